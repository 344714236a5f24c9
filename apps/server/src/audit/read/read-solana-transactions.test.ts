import { startTestSolana, type TestSolana } from "@geoswap/devnet";
import type { KeyPairSigner } from "@solana/kit";
import type { Hex } from "viem";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { floodAddresses } from "../../../test/solana/flood-addresses.ts";
import { limitedNodes, limitedTransport, type NodeLimits } from "../../../test/solana/limited-transport.ts";
import { type SolanaActions, solanaActions } from "../../../test/solana/solana-actions.ts";
import { toSignature } from "../../chain/solana/read/read-statuses.ts";
import { connectAuditedSolana } from "./audited-solana.ts";
import { readSolanaTransactions } from "./read-solana-transactions.ts";
import type { SolanaHistory } from "./solana-history.ts";

const flood = process.env.GEOSWAP_FULL ? 5_000 : 120;
vi.setConfig({ testTimeout: process.env.GEOSWAP_FULL ? 1_200_000 : 60_000, hookTimeout: 600_000 });

let solana: TestSolana;
let on: SolanaActions;
let ours: Hex[];
let strangers: Hex[];
beforeAll(async () => {
	solana = await startTestSolana({ slotMs: 3_600_000 });
	on = await solanaActions(solana);
	const { escrow, vault } = solana.deployment;
	const first = await on.land(await ourTransaction(1n));
	const gift = await on.transfer("SOL", 7n, { from: on.stranger, to: escrow });
	await on.land(await on.sign(gift, { payer: on.stranger }));
	strangers = await floodAddresses(solana, { addresses: [escrow, vault], count: flood });
	ours = [first, await on.land(await ourTransaction(2n))];
	await on.finalize();
});
afterAll(() => solana?.stop());

/** Signs a transaction of a fee payer that also names escrow and vault. */
async function ourTransaction(amount: bigint) {
	const { escrow, vault } = solana.deployment;
	const to = (on.wallets[0] as KeyPairSigner).address;
	const [transfer] = await on.transfer("SOL", amount, { from: on.feePayer, to });
	if (!transfer) throw new Error("a transfer is one instruction");
	const named = [escrow, vault].map((address) => ({ address, role: 0 as const }));
	return on.sign([{ ...transfer, accounts: [...(transfer.accounts ?? []), ...named] }]);
}

async function read(limits: NodeLimits, options: Parameters<typeof readSolanaTransactions>[1] = {}) {
	const { transport, calls } = limitedTransport(solana, limits);
	const chain = await connectAuditedSolana({ ...solana, transport });
	return { history: await readSolanaTransactions(chain, options), calls };
}

function expectComplete({ failure, transactions, gifts, unread, ...counts }: SolanaHistory): void {
	expect(failure).toBeUndefined();
	expect(unread.size).toBe(0);
	expect(transactions.map(({ signature }) => signature)).toEqual(ours);
	expect([...gifts.values()].flat().map(({ amount }) => amount)).toEqual([7n]);
	// The gift names the escrow alone. Nothing else of the strangers is kept.
	expect(counts.strangers).toBe(2 * flood + 1);
}

test.for(limitedNodes)(
	"a flood between two transactions of ours hides neither if a node %s",
	async ([, limits]) => {
		const { history, calls } = await read(limits);
		expectComplete(history);
		// One that names several of our addresses is read once.
		expect(calls.get("getTransaction")).toBeLessThan(flood + 20);
	},
);

test("transactions of strangers that a node refuses for their size end no audit, and one of ours does", async () => {
	const [large, other] = [strangers[0], strangers.at(-1)] as [Hex, Hex];
	const tooLarge = [large, other].map(toSignature);
	const { history } = await read({ tooLarge });
	expectComplete(history);
	// Each names two of our addresses.
	expect(history.undecodable).toBe(4);
	const { history: incomplete } = await read({ tooLarge }, { isWritten: (signature) => signature === large });
	expect(incomplete.failure).toMatchObject({
		message: expect.stringMatching(
			`the transactions that name \\w+ could not all be read: our transaction ${toSignature(large)} cannot be decoded`,
		),
	});
});

test("a history is completed part by part, however few calls a node answers at once", async () => {
	const { transport } = limitedTransport(solana, { callsAtOnce: 20 });
	const chain = await connectAuditedSolana({ ...solana, transport });
	let history: SolanaHistory | undefined;
	let failures = 0;
	do {
		history = await readSolanaTransactions(chain, { after: history });
		if (history.failure) failures++;
	} while (history.failure && failures < flood);
	expect(failures).toBeGreaterThan(2);
	expectComplete(history);
});
