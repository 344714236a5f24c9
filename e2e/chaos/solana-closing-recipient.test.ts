import { setTimeout as sleep } from "node:timers/promises";
import { type SolanaAddress, tokenAccountRentLamports, toSolanaWord } from "@geoswap/protocol";
import type { Client, EndedSwap } from "@geoswap/sdk";
import { generateKeyPairSigner } from "@solana/kit";
import { parseUnits } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { doSolanaSwap } from "../caller/do-solana-swap.ts";
import { swapIntent } from "../caller/do-swap.ts";
import { holding } from "../chain/holding.ts";
import { connectDatabase } from "../environment/connect-database.ts";
import type { OwnEnvironment } from "../environment/environment.ts";
import { expectBooksExact } from "../expect/expect-books-exact.ts";
import { ownEnvironment } from "../own-environment.ts";
import { hasTokenAccount } from "../solana/solana-balance.ts";
import { closeTokenAccount, tryToCloseTokenAccount } from "../trouble/close-token-account.ts";
import { assetAddress } from "../wallet/make-order.ts";

const repetitions = 1_000;
const recipientCount = 50;
const clientCount = 3;

const decidedWithinMs = 120_000;
/** The devnet's prices: 150 dollars for a SOL, a dollar for a USDC. */
const usdcPerSol = parseUnits("150", 6);
const lamportsPerSol = 10n ** 9n;
/** The fee for two signatures. */
const closingFee = 10_000n;

const environmentOf = ownEnvironment();
let environment: OwnEnvironment;
let token: SolanaAddress;
beforeAll(() => {
	environment = environmentOf();
	token = assetAddress(environment.solana, "USDC");
});

describe("a token account that the service creates for a recipient", () => {
	test.concurrent(`gains the recipient nothing if the recipient closes it, ${repetitions} times over`, async () => {
		const { solana } = environment;
		const startedAt = performance.now();
		const clients = await Promise.all(Array.from({ length: clientCount }, environment.newClient));
		const hoards = await Promise.all(
			Array.from({ length: recipientCount }, async (_, i) => {
				const hoard = await solana.newWallet({ lamports: lamportsPerSol, usdc: 1n });
				const client = clients[i % clientCount] ?? environment.client;
				return { client, hoard, recipient: await generateKeyPairSigner() };
			}),
		);
		await Promise.all(
			hoards.map(async (one) => {
				for (let n = 0; n < repetitions / recipientCount; n++) {
					expect(await swapTo(one.client, one.recipient.address)).toBe("settled");
					await closeTokenAccount(solana, { owner: one.recipient, token, to: one.hoard });
				}
			}),
		);
		const seconds = (performance.now() - startedAt) / 1_000;
		console.log(
			`${repetitions} swaps and closings in ${seconds.toFixed(0)} s, ${(repetitions / seconds).toFixed(1)} a second`,
		);

		for (const { hoard, recipient } of hoards) {
			const paid = await paidTo(recipient.address);
			expect(paid.count).toBe(repetitions / recipientCount);
			expect(await hasTokenAccount(solana, token, recipient.address)).toBe(false);
			const gained = (await holding(solana, "USDC", hoard.address)) - 1n;
			expect(gained).toBe(paid.delivered);
			// The service created each account, and its rent went to the recipient when it was closed. The fees of closing are
			// not counted.
			const fees = closingFee * BigInt(paid.count);
			expect((await holding(solana, "SOL", hoard.address)) - lamportsPerSol + fees).toBe(paid.rent);
			expect(paid.rent).toBe(tokenAccountRentLamports * BigInt(paid.count));
			const rentValue = (paid.rent * usdcPerSol) / lamportsPerSol;
			expect(gained + rentValue).toBeLessThanOrEqual(paid.withoutClosing);
		}
	});

	test.concurrent("gains the recipient nothing if the recipient closes it while it is paid into", async () => {
		const { solana } = environment;
		const client = await environment.newClient();
		const hoard = await solana.newWallet({ lamports: lamportsPerSol, usdc: 1n });
		const recipient = await generateKeyPairSigner();
		let isSwapping = true;
		const closing = (async () => {
			for (;;) {
				const isOpen = await hasTokenAccount(solana, token, recipient.address);
				if (!isOpen && !isSwapping) return;
				// The recipient may be paid again meanwhile, in which case the account is closed the next time.
				if (isOpen) await tryToCloseTokenAccount(solana, { owner: recipient, token, to: hoard });
				await sleep(100);
			}
		})();
		await Promise.all(Array.from({ length: 6 }, () => swapTo(client, recipient.address))).finally(() => {
			isSwapping = false;
		});
		await closing;
		// If the recipient closes the account before every payout, it gets nothing, and the wallet gets its input back.
		const paid = await paidTo(recipient.address);
		const gained = (await holding(solana, "USDC", hoard.address)) - 1n;
		expect(gained).toBe(paid.delivered);
		const rentValue = (paid.rent * usdcPerSol) / lamportsPerSol;
		expect(gained + rentValue).toBeLessThanOrEqual(paid.withoutClosing);
	});

	test.concurrent("is paid for by the recipient, and a recipient that already has an account gets that much more", async () => {
		const { solana } = environment;
		const client = await environment.newClient();
		const recipient = await solana.newWallet({ usdc: 1n });
		expect(await swapTo(client, recipient.address)).toBe("settled");
		const paid = await paidTo(recipient.address);
		expect(paid).toMatchObject({ count: 1, rent: 0n });
		expect(paid.delivered).toBe(paid.withoutClosing);
		expect(await holding(solana, "USDC", recipient.address)).toBe(paid.delivered + 1n);
	});
});

test("after all these swaps the books match the chains to the unit", async () => {
	await expectBooksExact(environment, { withinMs: decidedWithinMs });
});

/** Swaps from a new wallet on Solana. */
async function swapTo(client: Client, recipient: SolanaAddress): Promise<EndedSwap["status"]> {
	const { solana, deployment: pins } = environment;
	// The account's rent is more than 3 % of a smaller amount, and the wallet would not sign for that.
	const amount = parseUnits("20", 6);
	const account = await solana.newWallet({ usdt: amount });
	const from = { chain: solana, token: "USDT", amount };
	const intent = swapIntent({ from, to: { chain: solana, token: "USDC" }, account, recipient });
	const { swap } = await doSolanaSwap({ client, pins, account }, intent);
	expect(await holding(solana, "USDT", account.address)).toBe(swap.status === "settled" ? 0n : amount);
	return swap.status;
}

/**
 * Returns a recipient's payouts, what it would have been paid with an existing account, and the rent of the accounts
 * that the service created.
 */
async function paidTo(
	recipient: SolanaAddress,
): Promise<{ count: number; delivered: bigint; withoutClosing: bigint; rent: bigint }> {
	const database = await connectDatabase(environment.databaseUrl);
	const [row] = await database.query<Record<"count" | "delivered" | "whole" | "rent", string>>(
		`select count(*), sum(delivered_amount) as delivered,
			sum((delivery->>'amount')::numeric + (delivery->>'unusedRent')::numeric) as whole,
			coalesce((select sum((data->>'lamports')::numeric) from chain_events e
				where e.name = 'AccountMade' and e.order_id in (select order_id from swaps s where s.order_terms->>'recipient' = $1)), 0) as rent
		from swaps where order_terms->>'recipient' = $1 and status = 'settled'`,
		[toSolanaWord(recipient)],
	);
	await database.end();
	if (!row) throw new Error("a sum has a row");
	return {
		count: Number(row.count),
		delivered: BigInt(row.delivered),
		withoutClosing: BigInt(row.whole),
		rent: BigInt(row.rent),
	};
}
