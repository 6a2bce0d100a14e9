# SPDX-License-Identifier: MIT
# Units for the systemd of a user, which starts `t2 serve' with the first request.  Read by the Makefile in the top
# directory.

userunitdir ?= $(prefix)/lib/systemd/user
serve_units := t2-serve.service t2-serve.socket

$(addprefix $(out)/,$(serve_units)): $(out)/%: expand/serve/%.in force
	@mkdir -p $(@D)
	$(quiet)sed -e 's|@bindir@|$(bindir)|' $< > $@

installed += $(addprefix $(userunitdir)/,$(serve_units))

.PHONY: install-serve
install: install-serve
install-serve: $(addprefix $(out)/,$(serve_units))
	$(quiet)$(INSTALL) -d $(DESTDIR)$(userunitdir)
	$(quiet)$(INSTALL) -m 644 $^ $(DESTDIR)$(userunitdir)/
