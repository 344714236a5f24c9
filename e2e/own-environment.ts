import { afterAll, beforeAll, beforeEach } from "vitest";
import { type OwnEnvironment, startEnvironment } from "./environment.ts";

/** An environment for the tests of one file. Its services' logs are kept where a test failed. */
export function ownEnvironment(options: Parameters<typeof startEnvironment>[0] = {}): () => OwnEnvironment {
	let environment: OwnEnvironment | undefined;
	let hasFailed = false;
	beforeAll(async () => {
		environment = await startEnvironment(options);
	});
	beforeEach(({ onTestFailed }) => {
		onTestFailed(() => {
			hasFailed = true;
		});
	});
	afterAll(async () => {
		await environment?.stop({ keepFiles: hasFailed });
		if (hasFailed) console.error(`The services' logs: ${environment?.logDir}`);
	});
	return () => {
		if (!environment) throw new Error("the environment is not up");
		return environment;
	};
}
