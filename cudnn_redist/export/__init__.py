"""Plans and locks as text for other programs: build systems, downloaders, shells. Pure; nothing is asked or written."""
