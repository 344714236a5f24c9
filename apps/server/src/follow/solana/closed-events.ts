import { type SolanaDeployment, toSolanaWord, type Wei } from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Landed } from "../../chain/solana/read/read-landed.ts";
import type { RentPaid } from "../../job/journal/rents.ts";
import type { SlotEvent } from "./apply-slots.ts";

/** Returns an event for each known rent that a transaction returned: the chain does not keep accounts without lamports. */
export function closedEvents({
	deployment: { program },
	landed,
	rents,
}: {
	deployment: SolanaDeployment;
	landed: Landed;
	rents: ReadonlyMap<Hex, RentPaid>;
}): SlotEvent[] {
	return closedAccounts(landed).flatMap(({ address, lamports }) => {
		const rent = rents.get(address);
		if (!rent) return [];
		const { orderId, account } = rent;
		const data = { address, account, lamports: String(lamports), booked: String(rent.lamports) };
		return [{ name: "RentReturned", data, orderId, contract: toSolanaWord(program.vault) }];
	});
}

export function closedAccounts({ isFailed, lamports }: Landed): { address: Hex; lamports: Wei }[] {
	if (isFailed) return [];
	return [...lamports].flatMap(([address, { before, after }]) =>
		before > 0n && after === 0n ? [{ address: toSolanaWord(address), lamports: before }] : [],
	);
}
