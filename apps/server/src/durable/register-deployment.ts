import { setTimeout as sleep } from "node:timers/promises";

/**
 * Tells the engine where our code is. Asks until the engine answers, so the two may start in any order. An address that
 * it knows is looked at again: the code there may be newer.
 */
export async function registerDeployment({
	adminUrl,
	url,
	signal,
}: {
	adminUrl: string;
	url: string;
	signal?: AbortSignal;
}): Promise<void> {
	for (let pauseMs = 50; ; pauseMs = Math.min(2 * pauseMs, 1_000)) {
		const problem = await register({ adminUrl, url });
		if (problem === undefined) return;
		// An engine that understood and refuses will not change its mind.
		if (problem.isFinal) throw new Error(`the engine at ${adminUrl} refuses ${url}: ${problem.message}`);
		await sleep(pauseMs, undefined, signal ? { signal } : {});
	}
}

async function register({
	adminUrl,
	url,
}: {
	adminUrl: string;
	url: string;
}): Promise<{ isFinal: boolean; message: string } | undefined> {
	try {
		const response = await fetch(new URL("/deployments", adminUrl), {
			method: "POST",
			headers: { "content-type": "application/json" },
			body: JSON.stringify({ uri: url, force: true }),
			signal: AbortSignal.timeout(10_000),
		});
		if (response.ok) return undefined;
		return { isFinal: response.status >= 400 && response.status < 500, message: await response.text() };
	} catch (error) {
		return { isFinal: false, message: (error as Error).message };
	}
}
