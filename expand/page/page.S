/* SPDX-License-Identifier: MIT */
/* page.S - the page as page.mk has built it, for export/t2x_html.c; empty without node. */
	.section .rodata
	.global t2x_html_page
	.hidden t2x_html_page
t2x_html_page:
	.incbin PAGE
	.global t2x_html_page_end
	.hidden t2x_html_page_end
t2x_html_page_end:
	.byte 0
	.section .note.GNU-stack, "", %progbits
