import { homeOf } from "../config.ts";
import { type Call, openContext } from "../context.ts";
import { findSwap, refusalAbout } from "../find-swap.ts";
import { openIntents } from "../intents.ts";

/** Prints a new link to the swap's page, or revokes all of them. */
export async function shareCommand(
	call: Call,
	{ id, revoke = false }: { id: string; revoke?: boolean },
): Promise<void> {
	const { client, output } = await openContext(call);
	const { revokeShares, shareSwap } = await import("@geoswap/sdk/share");
	const { signal } = call;
	const found = await findSwap(openIntents(homeOf(call.io)), id);
	const { swapId } = found;
	const explain = (error: unknown) => {
		throw refusalAbout(found, error);
	};
	if (revoke) {
		const answer = await revokeShares(client, swapId, { signal }).catch(explain);
		const links = answer.revoked === 1 ? "1 link" : `${answer.revoked} links`;
		return output.result(answer, [`${links} revoked; none shows this swap any more`]);
	}
	const answer = await shareSwap(client, swapId, { signal }).catch(explain);
	await output.result(answer, [answer.url]);
}
