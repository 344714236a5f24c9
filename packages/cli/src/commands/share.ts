import { type Call, openContext } from "../context.ts";

/** Prints a new link to the swap's page, or revokes all of them. */
export async function shareCommand(
	call: Call,
	{ swapId, revoke = false }: { swapId: string; revoke?: boolean },
): Promise<void> {
	const { client, output } = await openContext(call);
	const { revokeShares, shareSwap } = await import("@geoswap/sdk/share");
	const { signal } = call;
	if (revoke) {
		const answer = await revokeShares(client, swapId, { signal });
		const links = answer.revoked === 1 ? "1 link" : `${answer.revoked} links`;
		return output.result(answer, [`${links} revoked; none shows this swap any more`]);
	}
	const answer = await shareSwap(client, swapId, { signal });
	await output.result(answer, [answer.url]);
}
