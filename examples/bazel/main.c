#include <cudnn.h>
#include <stdio.h>

int main(void) {
    printf("cuDNN %zu\n", cudnnGetVersion());
    return 0;
}
