/* SPDX-License-Identifier: MIT */
/* t2x_payload.c - see t2x_payload.h. */
#include "t2x_payload.h"

#include "text/t2x_text.h"

/* "[a b]": the words from position first on. */
static void put_argv(struct t2x_out *out, const struct t2x_event *ev, unsigned first)
{
	t2x_out_char(out, '[');
	t2x_text_argv(out, ev->args + first, ev->nargs - first);
	t2x_out_char(out, ']');
}

static void put_child(struct t2x_out *out, const struct t2x_event *ev)
{
	t2x_out_literal(out, "[ch");
	t2x_out_int(out, ev->args[T2X_CHILD_ID].value);
	t2x_out_char(out, ']');
}

static void put_child_start(struct t2x_out *out, const struct t2x_event *ev)
{
	const struct t2x_arg *args = ev->args;

	put_child(out, ev);
	if (args[T2X_CHILD_HOOK].type == TLG_ARG_TEXT) {
		t2x_out_literal(out, " hook:");
		t2x_text_arg(out, &args[T2X_CHILD_HOOK]);
	} else if (args[T2X_CHILD_CLASS].type == TLG_ARG_TEXT) {
		t2x_out_literal(out, " class:");
		t2x_text_arg(out, &args[T2X_CHILD_CLASS]);
	}
	if (args[T2X_CHILD_DIR].type == TLG_ARG_TEXT) {
		t2x_out_literal(out, " cd:");
		t2x_text_quoted(out, args[T2X_CHILD_DIR].text, args[T2X_CHILD_DIR].length);
	}
	t2x_out_literal(out, " argv:");
	put_argv(out, ev, T2X_CHILD_ARGV);
}

static void put_exec(struct t2x_out *out, const struct t2x_event *ev)
{
	const struct t2x_arg *exe = &ev->args[T2X_EXEC_EXE];

	t2x_out_literal(out, "id:");
	t2x_out_int(out, ev->args[T2X_EXEC_ID].value);
	if (ev->style == TLG_STYLE_exec_result) {
		t2x_text_exec_result(out, ev);
		return;
	}
	if (exe->type == TLG_ARG_TEXT) {
		t2x_out_literal(out, " exe:");
		t2x_text_arg(out, exe);
	}
	t2x_out_literal(out, " argv:");
	put_argv(out, ev, T2X_EXEC_ARGV);
}

static void put_timer(struct t2x_out *out, const struct t2x_event *ev)
{
	struct t2x_printer exact = { .out = out, .options = { .ns = 1 } };

	t2x_text_timer(&exact, ev->args);
}

void t2x_payload(struct t2x_out *out, const struct t2x_event *ev, const struct t2x_options *options)
{
	switch (ev->style) {
	case TLG_STYLE_version:
	case TLG_STYLE_cmd_path:
	case TLG_STYLE_cmd_mode:
	case TLG_STYLE_def_repo:
	case TLG_STYLE_data:
	case TLG_STYLE_data_json:
	case TLG_STYLE_snapshot:
		t2x_text_arg(out, &ev->args[0]);
		break;
	case TLG_STYLE_start:
		t2x_text_argv(out, ev->args, ev->nargs);
		break;
	case TLG_STYLE_exit:
	case TLG_STYLE_atexit:
	case TLG_STYLE_signal:
		t2x_out_string(out, ev->style == TLG_STYLE_signal ? "signo:" : "code:");
		t2x_out_int(out, ev->args[0].value);
		break;
	case TLG_STYLE_cmd_ancestry:
		put_argv(out, ev, 0);
		break;
	case TLG_STYLE_cmd_name:
		t2x_text_cmd_name(out, ev);
		break;
	case TLG_STYLE_alias:
		t2x_text_arg(out, &ev->args[T2X_ALIAS_NAME]);
		t2x_out_literal(out, " argv:");
		put_argv(out, ev, T2X_ALIAS_ARGV);
		break;
	case TLG_STYLE_child_start:
		put_child_start(out, ev);
		break;
	case TLG_STYLE_child_exit:
		put_child(out, ev);
		t2x_text_child_exit(out, ev);
		break;
	case TLG_STYLE_child_ready:
		put_child(out, ev);
		t2x_text_child_ready(out, ev);
		break;
	case TLG_STYLE_exec:
	case TLG_STYLE_exec_result:
		put_exec(out, ev);
		break;
	case TLG_STYLE_def_param:
		t2x_text_param(out, ev, '=');
		break;
	case TLG_STYLE_timer:
	case TLG_STYLE_th_timer:
		put_timer(out, ev);
		break;
	case TLG_STYLE_sample:
		t2x_text_sample(options, out, ev);
		break;
	default:
		if (ev->message)
			t2x_text_message(out, ev);
	}
}
