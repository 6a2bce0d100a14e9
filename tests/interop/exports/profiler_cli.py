# SPDX-License-Identifier: MIT
"""The Firefox Profiler's command line, for the scripts here that compare what it says."""
import json
import subprocess


def asker(cli, session):
    """Return ask(*command): what a command prints about the profile that this session has loaded."""
    def ask(*command):
        """It gives up when it has no processor for a second at the wrong moment: then again."""
        command = ["node", cli, *command, "--session", session, "--json"]
        for _ in range(10):
            done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
            if not done.returncode:
                break
        return json.loads(done.stdout)
    return ask
