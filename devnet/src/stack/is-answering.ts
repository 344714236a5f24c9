/** Returns true if a GET of this URL succeeds. */
export async function isAnswering(url: string): Promise<boolean> {
	const response = await fetch(url, { signal: AbortSignal.timeout(1_000) });
	await response.body?.cancel();
	return response.ok;
}
