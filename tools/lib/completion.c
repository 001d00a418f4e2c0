/* Scripts for shells: see completion.h. A command that is run while a script is made prints what its table says, and returns. */
#include "completion.h"

#include "args.h"
#include "report.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

void (*completion_table)(const struct command_line *line);

/* The command whose table is printed. */
static struct completed_command now;

struct completed_option {
    const char *name, *value, *help; /* value NULL: none; help: its first line counts */
    bool optional;
};

/* ---------------------------------------------------------------------------------------- all options */

typedef void option_printer(const struct command_line *line, const struct completed_option *option);

static bool is_later(const struct command_line *line, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (strcmp(line->rows[i].name, line->rows[row].name) == 0)
            return true;
    return false;
}

static void each_option(const struct command_line *line, option_printer *print)
{
    for (size_t i = 0; i < line->count; i++) {
        const struct option_row *row = &line->rows[i];
        if (row->kind != OPTION_READER && !is_later(line, i))
            print(line, &(struct completed_option){row->name, row->value, row->help,
                                                   row->value && *row->value == '['});
    }
    for (size_t i = 0; line->reader && i < reader_option_count; i++) {
        const struct reader_option *o = &reader_options[i];
        if (o->who & line->reader)
            print(line, &(struct completed_option){o->name, o->kind == READER_FLAG ? NULL : o->value, o->help,
                                                   false});
    }
}

/* Calls for each word that is a value: of a reader's option, or, as the help has it, in a row of its own. Returns how many. */
static unsigned each_word(const struct command_line *line, const char *name, const char *between)
{
    unsigned n = 0;
    for (size_t i = 0; i < line->count; i++) {
        const char *value = line->rows[i].value;
        if (strcmp(line->rows[i].name, name) == 0 && value && *value &&
            strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(value))
            printf("%s%s", n++ ? between : "", value);
    }
    for (size_t i = 0; line->reader && i < reader_option_count; i++)
        for (const struct word *w = strcmp(reader_options[i].name, name) == 0 ? reader_options[i].words
                                                                              : NULL;
             w && w->name; w++)
            printf("%s%s", n++ ? between : "", w->name);
    return n;
}

/* ------------------------------------------------------------------------------------------------ bash */

static void print_bash_name(const struct command_line *line, const struct completed_option *o)
{
    (void)line;
    printf(" --%s%s", o->name, o->optional ? "=" : "");
}

static void print_bash_words(const struct command_line *line, const struct completed_option *o)
{
    if (!o->value || o->optional)
        return;
    printf("        '%s --%s') words='", now.name, o->name);
    each_word(line, o->name, " ");
    puts("' value=1 ;;");
}

static void print_bash_table(const struct command_line *line)
{
    printf("    case \"$command\" in '%s') options='", now.name);
    each_option(line, print_bash_name);
    puts(" ' ;; esac\n    case \"$command $before\" in");
    each_option(line, print_bash_words);
    puts("    esac");
}

static void print_bash_head(bool has_commands)
{
    printf("# completion for %s\n_%s()\n{\n"
           "    local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD - 1]}\"\n"
           "    local command='' options='' words='' value=''\n",
           program_name, program_name);
    if (has_commands)
        puts("    command=\"${COMP_WORDS[1]}\"");
}

static void print_bash_tail(const char *commands)
{
    if (*commands)
        printf("    if [ \"$COMP_CWORD\" = 1 ]; then\n        COMPREPLY=($(compgen -W '%s --help --version' "
               "-- \"$word\"))\n        return\n    fi\n",
               commands);
    printf("    if [ -n \"$value\" ]; then\n"
           "        [ -z \"$words\" ] || COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
           "    elif [ \"${word#-}\" != \"$word\" ]; then\n"
           "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
           "    fi\n}\ncomplete -o default -F _%s %s\n",
           program_name, program_name);
}

/* ------------------------------------------------------------------------------------------------ fish */

/* The first line of a text, without what ends a quoted one. */
static void print_fish_text(const char *text)
{
    printf("'");
    for (; text && *text && *text != '\n'; text++)
        putchar(*text == '\'' || *text == '\\' ? ' ' : *text);
    printf("'");
}

static void print_fish_option(const struct command_line *line, const struct completed_option *o)
{
    printf("complete -c %s", program_name);
    if (*now.name)
        printf(" -n '__fish_seen_subcommand_from %s'", now.name);
    printf(" -l %s%s -d ", o->name, o->value && !o->optional ? " -r" : "");
    print_fish_text(o->help);
    printf(" -a '");
    each_word(line, o->name, " ");
    puts("'");
}

static void print_fish_table(const struct command_line *line)
{
    each_option(line, print_fish_option);
}

static void print_fish_command(void)
{
    if (!*now.name)
        return;
    printf("complete -c %s -n __fish_use_subcommand -f -a %s -d ", program_name, now.name);
    print_fish_text(now.what);
    puts("");
}

/* --------------------------------------------------------------------------------------------- the script */

/* Runs each command, which prints its table. */
static int each_command(bool (*command)(size_t i, struct completed_command *command), bool fish)
{
    completion_table = fish ? print_fish_table : print_bash_table;
    for (size_t i = 0; command(i, &now); i++) {
        char *argv[] = {(char *)now.name, NULL};
        if (fish)
            print_fish_command();
        optind = 0;
        if (now.run && now.run(1, argv) != 0)
            return failed("the table of '%s' cannot be printed", now.name);
    }
    completion_table = NULL;
    return 0;
}

int completion_print(const char *shell, bool (*command)(size_t i, struct completed_command *command))
{
    char commands[1024];
    size_t used = 0;
    bool fish = strcmp(shell, "fish") == 0, zsh = strcmp(shell, "zsh") == 0;
    if (!fish && !zsh && strcmp(shell, "bash") != 0)
        return misuse("completion is for bash, zsh and fish, not '%s'", shown(shell));
    *commands = 0;
    for (size_t i = 0; command(i, &now) && used < sizeof commands; i++)
        used += (size_t)snprintf(commands + used, sizeof commands - used, "%s%s", i ? " " : "", now.name);
    if (zsh)
        printf("#compdef %s\nautoload -U +X bashcompinit && bashcompinit\n", program_name);
    if (!fish)
        print_bash_head(*commands != 0);
    int status = each_command(command, fish);
    if (!status && !fish)
        print_bash_tail(commands);
    return status;
}
