// Runs the plans that its parent sends, one after the other, until the parent disconnects.
import { dropRunDatabases, runPlan } from "./run-plan.ts";
import type { SimulationAnswer, SimulationRequest } from "./simulation-process.ts";

const [databaseUrl] = process.argv.slice(2);
if (!databaseUrl || !process.send) throw new Error("this program must be started by the simulator");

process.on("message", ({ plan, keepTrace }: SimulationRequest) => {
	runPlan(plan, { databaseUrl, keepTrace }).then(
		(result) => answer({ result }),
		(error: Error) => answer({ error: error.stack ?? String(error) }),
	);
});
process.on("disconnect", () => {
	void dropRunDatabases()
		.catch(() => {})
		.finally(() => process.exit());
});

function answer(message: SimulationAnswer): void {
	process.send?.(message);
}
