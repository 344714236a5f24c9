import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { type EnvironmentAddress, startEnvironment } from "./environment/environment.ts";
import { loggingAll } from "./environment/logging-all.ts";
import { findLeaks } from "./leak/find-leaks.ts";

declare module "vitest" {
	interface ProvidedContext {
		environment: EnvironmentAddress;
	}
}

/**
 * Starts one environment for all tests, because starting it takes longer than most of them. After the tests, the output
 * of its services must contain no secret.
 */
export default async function globalSetup(project: TestProject): Promise<() => Promise<void>> {
	const denyList = { file: join(import.meta.dirname, "denied.txt") };
	const configure = loggingAll((config) => ({ ...config, denyList }));
	const { address, stop } = await startEnvironment({ configure, countCalls: true });
	project.provide("environment", address);
	return async () => {
		const leaks = await findLeaks(address).catch((error: unknown) => [`not looked for: ${error}`]);
		const keepFiles = project.vitest.state.getCountOfFailedTests() > 0 || leaks.length > 0;
		await stop({ keepFiles });
		if (keepFiles) console.error(`The services' logs: ${address.logDir}`);
		if (leaks.length === 0) return;
		console.error(`Secrets that logs or metrics contain:\n${leaks.join("\n")}`);
		// No test failed, but the run must.
		process.exitCode = 1;
	};
}
