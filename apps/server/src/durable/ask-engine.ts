const timeoutMs = 1_000;

/** Throws where the engine's ingress does not say that it is well. */
export async function askEngine({ ingressUrl }: { ingressUrl: string }): Promise<void> {
	const response = await fetch(new URL("/restate/health", ingressUrl), {
		signal: AbortSignal.timeout(timeoutMs),
	});
	// Read, or the connection is not used again.
	await response.text();
	if (!response.ok) throw new Error(`the engine answered ${response.status}`);
}
