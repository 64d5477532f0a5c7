# cuDNN as a package, for projects whose nixpkgs has not this release yet. Beside this file, and under version control:
#
#   cudnn-redist export nix 9.27.0 --cuda 13 > cudnn.nix
{
  pkgs ? import <nixpkgs> { },
  platform ? "linux-x86_64",
}:
let
  archives = import ./cudnn.nix { inherit (pkgs) fetchurl; };
  archive = archives.cudnn."9.27.0".${platform}.cuda13;
in
pkgs.runCommand "cudnn-9.27.0" { } ''
  mkdir "$out"
  tar --extract --file ${archive} --strip-components=1 --directory "$out"
  ln -s lib "$out/lib64"
''
