import { afterAll, beforeAll, beforeEach } from "vitest";
import { type Machines, startMachines } from "./start-machines.ts";

/** Starts machines for the tests of one file. Their logs are kept if a test failed. */
export function ownMachines(): () => Machines {
	let machines: Machines | undefined;
	let hasFailed = false;
	beforeAll(async () => {
		machines = await startMachines();
	});
	beforeEach(({ onTestFailed }) => {
		onTestFailed(() => {
			hasFailed = true;
		});
	});
	afterAll(async () => {
		if (!machines) return;
		await machines.stop({ keepFiles: hasFailed });
		if (hasFailed) console.error(`The machines' logs: ${machines.environment.logDir}`);
	});
	return () => {
		if (!machines) throw new Error("the machines are not up");
		return machines;
	};
}
