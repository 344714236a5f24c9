import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { WorldRequest, WorldResult } from "./treasury-world.ts";

const program = fileURLToPath(new URL("world-program.ts", import.meta.url));
const planting = new URL("../bugs/plant-bug.ts", import.meta.url).href;

/** Runs worlds in some processes at a time, with a bug planted in the code if one is named. Keeps their order. */
export async function runWorlds(
	requests: readonly WorldRequest[],
	{ jobs, bug, onResult }: { jobs: number; bug?: string | undefined; onResult?: () => void },
): Promise<WorldResult[]> {
	const results: WorldResult[] = [];
	let next = 0;
	await Promise.all(Array.from({ length: Math.min(jobs, requests.length) }, runSome));
	return results;

	function runSome(): Promise<void> {
		const { promise, resolve, reject } = Promise.withResolvers<void>();
		const child = fork(program, {
			execArgv: ["--no-warnings", ...(bug ? ["--import", planting] : [])],
			env: { ...process.env, ...(bug && { GEOSWAP_PLANTED_BUG: bug }) },
		});
		let current = -1;
		const request = () => {
			const wanted = requests[next];
			current = next++;
			if (wanted) child.send(wanted, (error) => error && reject(error));
			else child.disconnect();
		};
		child.on("message", (result: WorldResult) => {
			results[current] = result;
			onResult?.();
			request();
		});
		child.once("error", reject);
		child.once("exit", (code) => {
			if (code === 0) resolve();
			else reject(new Error(`the process of seed ${requests[current]?.seed} ended with ${code}`));
		});
		request();
		return promise;
	}
}
