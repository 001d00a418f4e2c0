/* In place of libFuzzer: runs a target over the files, and the files of the folders, that are named. */
#include "fuzz.h"

#include <dirent.h>
#include <sys/stat.h>

static unsigned replayed;

static void replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat st;
    if (!file || fstat(fileno(file), &st) != 0) {
        perror(path);
        exit(1);
    }
    /* Memory of exactly its size, so that a read beyond it is seen by AddressSanitizer. */
    size_t size = (size_t)st.st_size;
    uint8_t *data = malloc(size);
    if ((size && !data) || fread(data, 1, size, file) != size) {
        perror(path);
        exit(1);
    }
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    replayed++;
}

static void replay(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder) {
        replay_file(path);
        return;
    }
    for (const struct dirent *e; (e = readdir(folder)) != NULL;) {
        char inner[4096];
        snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
        if (*e->d_name != '.')
            replay_file(inner);
    }
    closedir(folder);
}

int main(int argc, char **argv)
{
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    printf("%u inputs\n", replayed);
    return replayed == 0;
}
