import { markerAddress, markerSeed, tokenAccountRentLamports, tokenAccountSize } from "@geoswap/protocol";
import { type Address, generateKeyPairSigner } from "@solana/kit";
import { getAllocateWithSeedInstruction, getTransferSolInstruction } from "@solana-program/system";
import {
	fetchToken,
	getCloseAccountInstruction,
	getInitializeAccount3Instruction,
	TOKEN_PROGRAM_ADDRESS,
} from "@solana-program/token";
import { bytesToHex, type Hex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestSolana, type TestSolana } from "../src/index.ts";
import { type SolanaClient, solanaClient } from "./solana-client.ts";

const nativeMint = "So11111111111111111111111111111111111111112" as Address;

let solana: TestSolana;
let client: SolanaClient;
beforeAll(async () => {
	solana = await startTestSolana({ slotMs: 50 });
	client = await solanaClient(solana);
});
afterAll(() => solana?.stop());

function newOrderId(): Hex {
	return bytesToHex(crypto.getRandomValues(new Uint8Array(32)));
}

async function markerInstructions(orderId: Hex, owner: Address, rent = tokenAccountRentLamports) {
	const { vault, payer } = client;
	const marker = await markerAddress({ base: vault.address, orderId });
	return [
		getTransferSolInstruction({ source: payer, destination: marker, amount: rent }),
		getAllocateWithSeedInstruction({
			newAccount: marker,
			baseAccount: vault,
			base: vault.address,
			seed: markerSeed(orderId),
			space: tokenAccountSize,
			programAddress: TOKEN_PROGRAM_ADDRESS,
		}),
		getInitializeAccount3Instruction({ account: marker, mint: nativeMint, owner }),
	];
}

test("a second marker for the same order fails, whoever its owner would be", async () => {
	const { vault, escrow, stranger } = client;
	const orderId = newOrderId();
	const marker = await markerAddress({ base: vault.address, orderId });
	const first = await client.land(await markerInstructions(orderId, vault.address));
	expect(first.status.err).toBeNull();
	expect((await fetchToken(client.rpc, marker)).data).toMatchObject({
		owner: vault.address,
		mint: nativeMint,
	});

	const before = (await client.rpc.getBalance(stranger.address).send()).value;
	const withPayment = [
		...(await markerInstructions(orderId, escrow.address)),
		getTransferSolInstruction({ source: vault, destination: stranger.address, amount: 1n }),
	];
	const second = await client.land(withPayment);
	expect(second.status.err).toMatchObject({ InstructionError: [3n, {}] });
	expect((await client.rpc.getBalance(stranger.address).send()).value).toBe(before);
	expect((await fetchToken(client.rpc, marker)).data.owner).toBe(vault.address);
});

test("if two transactions race for one marker in one slot, only one succeeds", async () => {
	const orderId = newOrderId();
	const lifetime = await client.latest();
	const both = await Promise.all(
		[client.vault, client.escrow].map(async ({ address }) =>
			client.sign(await markerInstructions(orderId, address), { lifetime }),
		),
	);
	await Promise.all(both.map(({ wire }) => client.send(wire)));
	await solana.admin.warp({ slots: 4 });
	const statuses = await Promise.all(both.map(({ signature }) => client.statusOf(signature)));
	expect(statuses.filter((status) => status && status.err === null)).toHaveLength(1);
	expect(statuses.filter((status) => status && status.err !== null)).toHaveLength(1);
});

test("lamports that were sent to a marker's address beforehand do not prevent its creation", async () => {
	const { stranger, vault } = client;
	for (const rent of [0n, tokenAccountRentLamports]) {
		const orderId = newOrderId();
		const marker = await markerAddress({ base: vault.address, orderId });
		const gift = getTransferSolInstruction({
			source: stranger,
			destination: marker,
			amount: tokenAccountRentLamports,
		});
		await client.land([gift], { payer: stranger });
		const made = await client.land(await markerInstructions(orderId, vault.address, rent));
		expect(made.status.err).toBeNull();
		expect((await fetchToken(client.rpc, marker)).lamports).toBe(tokenAccountRentLamports + rent);
	}
});

test("closing a marker returns its rent, after which the marker could be created again", async () => {
	const { vault } = client;
	const orderId = newOrderId();
	const marker = await markerAddress({ base: vault.address, orderId });
	await client.land(await markerInstructions(orderId, vault.address));
	const to = (await generateKeyPairSigner()).address;
	const close = getCloseAccountInstruction({ account: marker, destination: to, owner: vault });
	expect((await client.land([close])).status.err).toBeNull();
	expect((await client.rpc.getBalance(to).send()).value).toBe(tokenAccountRentLamports);
	const { value } = await client.rpc.getAccountInfo(marker, { encoding: "base64" }).send();
	expect(value).toBeNull();
	expect((await client.land(await markerInstructions(orderId, vault.address))).status.err).toBeNull();
});
