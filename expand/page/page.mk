# SPDX-License-Identifier: MIT
# The page of --format=html, of which t2expand has a copy in it: build/page/page.html, the same for all compilers.
# Without node it is empty, unless it is there from elsewhere; without the npm packages there is no flame graph in it.

# Its data are deflated: a browser inflates by itself.
expand_pkgs += zlib
debian_zlib := zlib1g-dev

NODE ?= node
page := build/page/page.html
page_npm := build/page/npm
# nobody waits long for a flame graph, but CI, which tests it
npm_flags := --ignore-scripts --no-audit --no-fund $(if $(CI),--fetch-retries=5,--fetch-retries=0 --fetch-timeout=20000)
page_src := $(wildcard expand/page/build.mjs expand/page/page.html expand/page/page.css expand/page/src/*.mjs)
page_node = $(shell $(NODE) -e 'if (parseInt(process.versions.node) >= 18) console.log("yes")' 2>/dev/null)

# What npm fetches; it is not asked again before the list changes.
$(page_npm)/fetched: expand/page/package.json expand/page/package-lock.json
	$(call say,NPM)
	$(quiet)cp $^ $(@D)/
	$(quiet)$(if $(page_node),cd $(@D) && npm ci $(npm_flags) >npm.log 2>&1 || \
		echo 'page: npm cannot fetch its packages (see $(@D)/npm.log): there will be no flame graph in it')
	@touch $@

$(page): $(page_src) $(page_npm)/fetched
	$(call say,PAGE)
	$(quiet)$(if $(page_node),$(NODE) expand/page/build.mjs $(page_npm)/node_modules $@,\
		test -s $@ || echo 'page: no node of version 18 or later: --format=html is not in this build'; touch $@)

$(obj)/expand/page/page.o: expand/page/page.S $(page) $(out)/flags
	$(call say,AS)
	$(quiet)$(call compile,expand/page/page,-DPAGE='"$(page)"') -c -o $@ $<
