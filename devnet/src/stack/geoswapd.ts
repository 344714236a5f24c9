import { spawnSync } from "node:child_process";
import { serverMain } from "./server-command.ts";
import { readServerEnvironment, stackDataDir } from "./stack-file.ts";

// Runs a command of `geoswapd` on the running stack. The stack's variables win over the shell's, because a command that
// reads its configuration from one service and its database from another would be worse than none.
const environment = readServerEnvironment(stackDataDir());
if (!environment) {
	console.error("No stack is running from .devnet; start one with pnpm start or pnpm dev.");
	process.exit(2);
}
const { status } = spawnSync(process.execPath, [serverMain, ...process.argv.slice(2)], {
	env: { ...process.env, ...environment },
	stdio: "inherit",
});
process.exit(status ?? 1);
