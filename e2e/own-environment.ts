import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { type OwnEnvironment, startEnvironment } from "./environment/environment.ts";
import { loggingAll } from "./environment/logging-all.ts";
import { findLeaks } from "./leak/find-leaks.ts";

/**
 * Starts an environment for the tests of one file. Its services' logs are kept if a test failed. At the end they must
 * contain no secret.
 */
export function ownEnvironment(options: Parameters<typeof startEnvironment>[0] = {}): () => OwnEnvironment {
	let environment: OwnEnvironment | undefined;
	let hasFailed = false;
	beforeAll(async () => {
		environment = await startEnvironment({ ...options, configure: loggingAll(options.configure) });
	});
	beforeEach(({ onTestFailed }) => {
		onTestFailed(() => {
			hasFailed = true;
		});
	});
	afterAll(async () => {
		if (!environment) return;
		const leaks = await findLeaks(environment.address).catch((error: unknown) => [
			`not looked for: ${error}`,
		]);
		const keepFiles = hasFailed || leaks.length > 0;
		await environment.stop({ keepFiles });
		if (keepFiles) console.error(`The services' logs: ${environment.logDir}`);
		expect(leaks).toEqual([]);
	});
	return () => {
		if (!environment) throw new Error("the environment is not up");
		return environment;
	};
}
