import type { TestProject } from "vitest/node";
import { type EnvironmentAddress, startEnvironment } from "./environment.ts";

declare module "vitest" {
	interface ProvidedContext {
		environment: EnvironmentAddress;
	}
}

/** One environment for all stories: starting it takes longer than most of them. */
export default async function globalSetup(project: TestProject): Promise<() => Promise<void>> {
	const { address, stop } = await startEnvironment();
	project.provide("environment", address);
	return async () => {
		const hasFailed = project.vitest.state.getCountOfFailedTests() > 0;
		await stop({ keepFiles: hasFailed });
		if (hasFailed) console.error(`The services' logs: ${address.logDir}`);
	};
}
