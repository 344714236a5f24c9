const timeoutMs = 1_000;

/** Throws unless the engine's ingress reports that it is healthy. */
export async function requestEngine({ ingressUrl }: { ingressUrl: string }): Promise<void> {
	const response = await fetch(new URL("/restate/health", ingressUrl), {
		signal: AbortSignal.timeout(timeoutMs),
	});
	// The connection is reused only if the body is read.
	await response.text();
	if (!response.ok) throw new Error(`the engine answered ${response.status}`);
}
