/** Returns true if a service reports no problem. The service accepts requests before that, once a part of it works. */
export async function isEverythingReady(baseUrl: string): Promise<boolean> {
	const response = await fetch(`${baseUrl}/ready`, { signal: AbortSignal.timeout(3_000) });
	const body = (await response.json()) as { status?: string };
	return response.ok && body.status === "ready";
}
