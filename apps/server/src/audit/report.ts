import type { Hex } from "viem";

export type Invariant = "I1" | "I2" | "I3" | "I4" | "I5" | "I8" | "I9" | "I13" | "I14";

/** Something that must never be so. */
export type Breach = { invariant: Invariant; message: string; orderId?: Hex };

/** What the books say of a token, and what the chain does, at one block. Amounts are decimal strings. */
export type TokenReport = {
	/** As its chain writes addresses. */
	token: string;
	symbol: string;
	/** Open orders and credits, by the events of the chain. */
	escrowExpected: string;
	escrowActual: string;
	/** By the ledger. */
	stockBooked: string;
	stockActual: string;
	/** What lies in escrows beyond that, and in vaults: sent there by no event of ours. */
	donated: string;
	unbooked: string;
};

/** A block is a slot on Solana. There, `lamports` is what the fee payers spent. */
export type ChainReport = {
	chainId: number;
	block: number;
	tokens: TokenReport[];
	lamports?: { fees: string; inMarkers: string; rent: string };
};

export type Report = {
	ok: boolean;
	chains: ChainReport[];
	orders: number;
	swaps: number;
	breaches: Breach[];
};

/** The report as people read it. */
export function formatReport({ ok, chains, orders, swaps, breaches }: Report): string {
	const lines = chains.flatMap(({ chainId, block, tokens, lamports }) => [
		`chain ${chainId} at ${lamports ? "slot" : "block"} ${block}`,
		...tokens.map((token) => {
			const extra = [
				token.donated === "0" ? [] : [`${token.donated} given to escrow`],
				token.unbooked === "0" ? [] : [`${token.unbooked} in vaults and not in the books`],
			].flat();
			const note = extra.length > 0 ? ` (${extra.join(", ")})` : "";
			return `  ${token.symbol}: escrow ${token.escrowActual}, stock ${token.stockActual}${note}`;
		}),
		...(lamports
			? [`  lamports: fees ${lamports.fees}, in markers ${lamports.inMarkers}, rent ${lamports.rent}`]
			: []),
	]);
	const found = breaches.map(
		({ invariant, message, orderId }) =>
			`BREACH ${invariant} ${message}${orderId ? ` (order ${orderId})` : ""}`,
	);
	const verdict = ok ? "all invariants hold" : `${breaches.length} breaches`;
	return [...lines, ...found, `${orders} orders, ${swaps} swaps: ${verdict}`].join("\n");
}
