import {
	accountRentLamports,
	inputAddress,
	programAccountSizes,
	type SolanaDeployment,
	toSolanaWord,
	type Wei,
} from "@geoswap/protocol";
import type { Hex } from "viem";
import type { Landed } from "../../chain/solana/read/read-landed.ts";
import type { RentPaid } from "../../job/journal/rents.ts";
import type { SlotEvent } from "./apply-slots.ts";

/** The rent of an order whose input is SOL. An order of a token has a second account. */
const nativeOrderRent = accountRentLamports(programAccountSizes.order);

/**
 * Returns an event for each known rent that a transaction returned. An account without lamports is closed, since the
 * chain does not keep it.
 */
export async function closedEvents({
	deployment: { program },
	landed,
	rents,
}: {
	deployment: SolanaDeployment;
	landed: Landed;
	rents: ReadonlyMap<Hex, RentPaid>;
}): Promise<SlotEvent[]> {
	const events = closedAccounts(landed).map(async ({ address, lamports }): Promise<SlotEvent[]> => {
		const rent = rents.get(address);
		if (!rent) return [];
		const { orderId, account, lamports: booked } = rent;
		const returned = account === "record" ? lamports : await returnedByOrder(orderId, { lamports, booked });
		const data = { address, account, lamports: String(returned), booked: String(booked) };
		return [{ name: "RentReturned", data, orderId, contract: toSolanaWord(program.vault) }];
	});
	return (await Promise.all(events)).flat();

	/** Returns the lamports that came back. Anyone can have an order paid and closed in one transaction. */
	async function returnedByOrder(
		orderId: Hex,
		{ lamports, booked }: { lamports: Wei; booked: Wei },
	): Promise<Wei> {
		// The program closes no account that holds SOL of the order's owner, so the rest was paid.
		if (booked === nativeOrderRent) return booked;
		const input = landed.lamports.get(await inputAddress(program.address, orderId));
		return input?.after === 0n ? lamports + input.before : lamports;
	}
}

export function closedAccounts({ isFailed, lamports }: Landed): { address: Hex; lamports: Wei }[] {
	if (isFailed) return [];
	return [...lamports].flatMap(([address, { before, after }]) =>
		before > 0n && after === 0n ? [{ address: toSolanaWord(address), lamports: before }] : [],
	);
}
