/* The commands of apldata. argv[0] is the command's name; each returns an exit status. */
#ifndef CMD_H
#define CMD_H

int cmd_info(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_get(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_view(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_extract(int argc, char **argv);
int cmd_join(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_set_kind(int argc, char **argv);
int cmd_split(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_stream(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_stage(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_audit(int argc, char **argv);
int cmd_check(int argc, char **argv);

#endif
