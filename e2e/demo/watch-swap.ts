import { type Client, getStatus, type Swap } from "@geoswap/sdk";

/** Reports each event of a swap, once, until it is decided. */
export async function watchSwap(
	client: Client,
	swapId: string,
	{ origin, destination, say }: { origin: string; destination: string; say: (what: string) => void },
): Promise<Swap> {
	const told = new Set<string>();
	const tellOnce = (what: string) => {
		if (!told.has(what)) say(what);
		told.add(what);
	};
	for (;;) {
		// The call is held for at most a second, while an agent would hold it for fifteen, because a user watches here.
		const swap = await getStatus(client, swapId, { waitSeconds: 1 });
		if (swap.originTxHash) tellOnce(`input in escrow: ${swap.originTxHash} on ${origin}`);
		if (swap.deliveryTxHash) tellOnce(`output sent: ${swap.deliveryTxHash} on ${destination}`);
		tellOnce(swap.status === "pending" ? swap.stage : swap.status);
		if (swap.status === "pending") continue;
		if (swap.failure) say(swap.failure.message);
		return swap;
	}
}
