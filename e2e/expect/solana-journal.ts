import { fromSwapId, solanaChainId } from "@geoswap/protocol";
import {
	type Base64EncodedWireTransaction,
	getBase58Decoder,
	getBase64Decoder,
	type Signature,
} from "@solana/kit";
import type { DatabaseConnection } from "../environment/connect-database.ts";

export type JournalledTransaction = {
	signature: Signature;
	wire: Base64EncodedWireTransaction;
	state: "signed" | "broadcast" | "mined" | "final";
	orderId: string;
};

type Row = {
	hash: Uint8Array;
	raw: Uint8Array;
	state: JournalledTransaction["state"];
	jobs: { orderId: string }[];
};

/**
 * Returns the transactions that the service signed on Solana for a kind of job, of one swap or of all, oldest first.
 */
export async function solanaJournal(
	database: DatabaseConnection,
	{ kind, swapId }: { kind: "open" | "fill" | "void" | "release" | "refund"; swapId?: string },
): Promise<JournalledTransaction[]> {
	const job = swapId === undefined ? {} : { swapId: fromSwapId(swapId) };
	const rows = await database.query<Row>(
		`select hash, raw, state, jobs from lane_transactions
		where chain_id = $1 and kind = $2 and jobs @> $3 order by created_at, nonce`,
		[solanaChainId, kind, JSON.stringify([job])],
	);
	return rows.map(({ hash, raw, state, jobs }) => ({
		signature: getBase58Decoder().decode(hash) as Signature,
		wire: getBase64Decoder().decode(raw) as Base64EncodedWireTransaction,
		state,
		orderId: jobs[0]?.orderId ?? "",
	}));
}
