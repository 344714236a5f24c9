import type { Client } from "@geoswap/sdk";

/** The calls of a client, and those that were not answered with 200. */
export type CallCounts = { calls: number; failed: string[] };

/** Returns the client with a count of its calls. A call that the SDK would send again still counts as failed. */
export function countingClient(client: Client): { client: Client; counts: CallCounts } {
	const counts: CallCounts = { calls: 0, failed: [] };
	const counted: typeof fetch = async (input, init) => {
		counts.calls += 1;
		const name = `${init?.method ?? "GET"} ${input}`;
		try {
			const answer = await client.fetch(input, init);
			if (answer.status !== 200) counts.failed.push(`${name}: ${await answer.clone().text()}`);
			return answer;
		} catch (error) {
			counts.failed.push(`${name}: ${error}`);
			throw error;
		}
	};
	return { client: { ...client, fetch: counted }, counts };
}
