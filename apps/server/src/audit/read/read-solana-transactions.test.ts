import { startTestSolana, type TestSolana } from "@geoswap/devnet";
import { createVault, type SolanaAddress, vaultAddress, withdrawFromVault } from "@geoswap/protocol";
import type { KeyPairSigner } from "@solana/kit";
import type { Hex } from "viem";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { floodAddresses } from "../../../test/solana/flood-addresses.ts";
import { limitedNodes, limitedTransport, type NodeLimits } from "../../../test/solana/limited-transport.ts";
import { type SolanaActions, solanaActions } from "../../../test/solana/solana-actions.ts";
import { toSignature } from "../../chain/solana/read/read-statuses.ts";
import { connectAuditedSolana } from "./audited-solana.ts";
import type { SolanaHistory } from "./order-history.ts";
import { readSolanaTransactions } from "./read-solana-transactions.ts";

const flood = process.env.GEOSWAP_FULL ? 5_000 : 120;
vi.setConfig({ testTimeout: process.env.GEOSWAP_FULL ? 1_200_000 : 60_000, hookTimeout: 600_000 });

let solana: TestSolana;
let on: SolanaActions;
let ours: Hex[];
let strangers: Hex[];
beforeAll(async () => {
	solana = await startTestSolana({ slotMs: 3_600_000 });
	on = await solanaActions(solana);
	const first = await on.land(await ourTransaction(1n));
	await landGift(7n);
	strangers = await floodAddresses(solana, { addresses: named(), count: flood });
	ours = [first, await on.land(await ourTransaction(2n))];
	await on.finalize();
});
afterAll(() => solana?.stop());

/** The program and its vault. */
function named(): SolanaAddress[] {
	const { address, vault } = solana.deployment.program;
	return [address, vault];
}

/** Signs a transaction of a fee payer that also names program and vault. */
async function ourTransaction(amount: bigint) {
	const to = (on.wallets[0] as KeyPairSigner).address;
	const transfer = await on.transfer("SOL", amount, { from: on.feePayer, to });
	const more = named().map((address) => ({ address, role: 0 as const }));
	return on.sign([{ ...transfer, accounts: [...(transfer.accounts ?? []), ...more] }]);
}

/** Lands a stranger's gift of lamports to the vault. */
async function landGift(amount: bigint): Promise<void> {
	const { vault } = solana.deployment.program;
	const gift = await on.transfer("SOL", amount, { from: on.stranger, to: vault });
	await on.land(await on.sign([gift], { payer: on.stranger }));
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
	// The gift names the vault alone. Nothing else of the strangers' transactions is kept.
	expect(counts.strangers).toBe(2 * flood + 1);
}

test.for(limitedNodes)(
	"a flood between two transactions of the service hides neither if a node %s",
	async ([, limits]) => {
		const { history, calls } = await read(limits);
		expectComplete(history);
		// A transaction that names several of the service's addresses is read once.
		expect(calls.get("getTransaction")).toBeLessThan(flood + 20);
	},
);

test("third parties' transactions that a node refuses for their size do not end an audit, and one of the service's does", async () => {
	const [large, other] = [strangers[0], strangers.at(-1)] as [Hex, Hex];
	const tooLarge = [large, other].map(toSignature);
	const { history } = await read({ tooLarge });
	expectComplete(history);
	// Each names two of the service's addresses.
	expect(history.undecodable).toBe(4);
	const { history: incomplete } = await read({ tooLarge }, { isWritten: (signature) => signature === large });
	expect(incomplete.failure).toMatchObject({
		message: expect.stringMatching(
			`the transactions that name \\w+ could not all be read: the service's transaction ${toSignature(large)} cannot be decoded`,
		),
	});
});

test("a history is completed part by part, even if a node answers only few calls at a time", async () => {
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

test("only the new part of a known history is listed and read, in parts if there is much, with the same result", async () => {
	const { transport, calls } = limitedTransport(solana, {});
	const chain = await connectAuditedSolana({ ...solana, transport });
	const first = await readSolanaTransactions(chain);
	// All of the service's transactions are kept in memory, each with its changes only.
	const changes = first.transactions.flatMap(({ lamports }) => [...lamports.values()]);
	expect(changes.filter((change) => change === 0n)).toEqual([]);
	for (let i = 1n; i <= 5n; i++) await landGift(i);
	calls.clear();
	// A transaction that is not final may be dropped, so it is not read before.
	expect(await readSolanaTransactions(chain, { after: first })).toEqual(first);
	expect(calls.get("getTransaction")).toBeUndefined();
	await on.finalize();
	const second = await readSolanaTransactions(chain, { after: first });
	expect(second.strangers).toBe(first.strangers + 5);
	expect(second.transactions).toEqual(first.transactions);
	expect(calls.get("getTransaction")).toBe(5);

	let history: SolanaHistory | undefined = first;
	let parts = 0;
	do {
		history = await readSolanaTransactions(chain, { after: history, pageSize: 1, maxReads: 2 });
		parts++;
	} while (history.unread.size > 0);
	expect(parts).toBeGreaterThan(1);
	expect(history).toEqual(second);
	expect(history).toEqual(await readSolanaTransactions(chain));
});

test("calls of the program are kept regardless of their sender, and those of other vaults are not", async () => {
	const { address, vault } = solana.deployment.program;
	const other = await vaultAddress(address, on.stranger.address);
	const owned = { program: address, vault: other, owner: on.stranger };
	const made = [
		await createVault(address, { payer: on.feePayer, owner: on.stranger }),
		withdrawFromVault(owned, { amount: 0n, to: on.stranger.address }),
	];
	const withdrawal = withdrawFromVault(
		{ program: address, vault, owner: on.vaultOwner },
		{
			amount: 5n,
			to: on.stranger.address,
		},
	);
	for (const instructions of [made, [withdrawal]]) {
		await on.land(await on.sign(instructions, { payer: on.stranger }));
	}
	await on.finalize();
	const { transactions } = await readSolanaTransactions(await connectAuditedSolana(solana));
	const called = transactions.flatMap(({ calls }) => calls);
	expect(called.map(({ name, accounts }) => [name, accounts[1]])).toEqual([["withdraw", vault]]);
});
