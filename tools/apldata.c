/* apldata: look at stores, check them, and get data out of them. */
#include "args.h"
#include "cmd.h"
#include "image.h"
#include "interrupt.h"
#include "json.h"
#include "report.h"
#include "sandbox.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apl.h"

static const char help[] = "Usage: apldata COMMAND [OPTION]... DB [...]\n"
                           "Look after the store in the directory DB.\n"
                           "\n"
                           "Commands:\n"
                           "  info     what is in it\n"
                           "  verify   decode and check every byte of it\n"
                           "  get      the fields of some records\n"
                           "  export   all of it, as files that others read\n"
                           "  split    divide the records of a split, in two or into many parts\n"
                           "  check    do splits share records, inputs, groups, or images that look alike?\n"
                           "  bench    how fast it can be read for training\n"
                           "  stream   batches as they come, for another program\n"
                           "  audit    test whether training sees the data's own distribution\n"
                           "\n"
                           "  -h, --help       print this help; 'apldata COMMAND --help' that of a command\n"
                           "      --version    print the version\n";

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"info", cmd_info},   {"verify", cmd_verify}, {"get", cmd_get},     {"export", cmd_export},
    {"split", cmd_split}, {"check", cmd_check},   {"bench", cmd_bench}, {"stream", cmd_stream},
#ifdef HAVE_AUDIT
    {"audit", cmd_audit},
#endif
};

static int print_version(void)
{
    printf("apldata %s (libapldata %s, jansson %s, libpng %s)\n", APL_VERSION_STRING, apl_version(),
           jansson_version_str(), image_libpng_version());
    return EXIT_SUCCESS;
}

static int run_command(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(argv[0], commands[i].name) == 0) {
            command_name = commands[i].name;
            sandbox_enter();
            optind = 0; /* begin anew, with the command's own options */
            return commands[i].run(argc, argv);
        }
    }
    if (strcmp(argv[0], "audit") == 0)
        return failed(
            "this build has no audit: it needs a C++ compiler and Boost.Math (Debian: libboost-math-dev)");
    return misuse("no such command: '%s'", shown(argv[0]));
}

static int run(int argc, char **argv)
{
    static const struct option options[] = {
        {"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'V'}, {NULL, 0, NULL, 0}};
    int opt;
    opterr = 0;
    while ((opt = getopt_long(argc, argv, "+:h", options, NULL)) != -1) {
        if (opt == 'h') {
            fputs(help, stdout);
            return EXIT_SUCCESS;
        }
        return opt == 'V' ? print_version() : misused_option(argv, opt);
    }
    if (optind == argc)
        return misuse("which command?");
    return run_command(argc - optind, argv + optind);
}

int main(int argc, char **argv)
{
    program_name = "apldata";
    interrupt_ignore_limits();
    int status = finish_output(run(argc, argv));
    if (status)
        interrupt_die();
    return status;
}
