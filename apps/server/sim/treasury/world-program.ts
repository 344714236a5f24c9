// Runs treasury worlds for the process that forked it, one at a time.
import { runTreasuryWorld, type WorldRequest } from "./treasury-world.ts";

process.on("message", (request: WorldRequest) => {
	process.send?.(runTreasuryWorld(request));
});
