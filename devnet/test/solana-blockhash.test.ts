import type { Blockhash } from "@solana/kit";
import { expect, test } from "vitest";
import { airdropTransaction } from "../src/solana/airdrop-transaction.ts";
import { deriveSolanaDevnetKeys, solanaAddressOfKey } from "../src/solana/development-solana-keys.ts";
import { genesisAccounts } from "../src/solana/genesis-accounts.ts";
import { solanaChain } from "../src/solana/solana-chain.ts";
import { readWireTransaction } from "../src/solana/wire-transaction.ts";

/** An account that already holds its rent. */
const receiver = solanaAddressOfKey(deriveSolanaDevnetKeys().strangers[0] ?? new Uint8Array());

/** Returns a chain without a clock, and a transaction for the blockhash of its newest block. */
async function begin(skipEvery?: number) {
	const chain = solanaChain({ confirmedSlots: 2, finalitySlots: 32, skipEvery, now: Date.now });
	for (const account of await genesisAccounts()) chain.states.write(account.address, account);
	const born = chain.head("processed");
	const bytes = await airdropTransaction({
		to: receiver,
		lamports: 1n,
		blockhash: born.blockhash as Blockhash,
	});
	return { chain, born, wire: readWireTransaction(bytes) };
}

function makeBlocks(chain: Awaited<ReturnType<typeof begin>>["chain"], count: number) {
	const end = chain.head("processed").height + count;
	while (chain.head("processed").height < end) chain.tick();
}

test.each([undefined, 3])(
	"a blockhash is accepted until the block after its last valid height, and not later (skipEvery: %s)",
	async (skipEvery) => {
		const inTime = await begin(skipEvery);
		makeBlocks(inTime.chain, 150);
		inTime.chain.send(inTime.wire);
		makeBlocks(inTime.chain, 1);
		const landed = inTime.chain.transaction(inTime.wire.signature);
		expect(landed?.block.height).toBe(inTime.chain.lastValidBlockHeight(inTime.born) + 1);

		const late = await begin(skipEvery);
		makeBlocks(late.chain, 151);
		late.chain.send(late.wire);
		makeBlocks(late.chain, 5);
		expect(late.chain.transaction(late.wire.signature)).toBeUndefined();
	},
);

test("a transaction with an unknown blockhash is dropped, not kept", async () => {
	const { chain } = await begin();
	const other = await begin();
	chain.send(other.wire);
	makeBlocks(chain, 2);
	expect(chain.transaction(other.wire.signature)).toBeUndefined();
});

test("a change is read at processed, confirmed and finalized only once its block has that commitment", async () => {
	const { chain, wire } = await begin();
	const lamports = (commitment: "processed" | "confirmed" | "finalized") =>
		chain.accountAt(receiver, commitment)?.lamports ?? 0n;
	const before = lamports("finalized");
	chain.send(wire);
	makeBlocks(chain, 1);
	expect([lamports("processed"), lamports("confirmed"), lamports("finalized")]).toEqual([
		before + 1n,
		before,
		before,
	]);
	makeBlocks(chain, 2);
	expect([lamports("confirmed"), lamports("finalized")]).toEqual([before + 1n, before]);
	makeBlocks(chain, 29);
	expect(lamports("finalized")).toBe(before);
	makeBlocks(chain, 1);
	expect(lamports("finalized")).toBe(before + 1n);
});
