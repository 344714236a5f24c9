import { type Order, orderSchema } from "@geoswap/protocol";
import type { Address, Hex } from "viem";
import type { Database } from "../../database/database.ts";
import type { Row } from "../../database/rows.ts";
import type { JobKind } from "../../swap/facts/job.ts";

export type AttestedBatch = {
	/** In the order of the signed list. */
	orders: Order[];
	attestation: { threshold: bigint; attesters: Address[]; signatures: Hex[] };
};

/** Reads a list of orders with the attesters' signatures. Returns undefined if one of its orders is no longer known. */
export async function readAttestedBatch(
	db: Database,
	{ attestationId, kind }: { attestationId: string; kind: JobKind },
): Promise<AttestedBatch | undefined> {
	const { rows } = await db.query<AttestationRow>(
		`select threshold, attesters, signatures, order_ids, (
			select jsonb_object_agg('0x' || encode(order_id, 'hex'), order_terms) from jobs where kind = $2
				and order_id = any(array(select decode(substr(hex, 3), 'hex') from jsonb_array_elements_text(order_ids) as hex))
		) as terms from attestations where id = $1`,
		[attestationId, kind],
	);
	const [row] = rows;
	if (!row) return undefined;
	const terms = row.terms ?? {};
	const orders = row.order_ids.flatMap((id) => (terms[id] ? [orderSchema.parse(terms[id])] : []));
	if (orders.length !== row.order_ids.length) return undefined;
	const { threshold, attesters, signatures } = row;
	return { orders, attestation: { threshold: BigInt(threshold), attesters, signatures } };
}

type AttestationRow = Row<"attestations", "threshold"> & {
	attesters: Address[];
	signatures: Hex[];
	order_ids: Hex[];
	/** The orders' terms by order id, in lower case as ids are written everywhere. */
	terms: Record<Hex, object> | null;
};
