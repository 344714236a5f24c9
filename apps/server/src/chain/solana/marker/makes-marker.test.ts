import { markerAddress, orderId, type SolanaAddress, tokenAccountRentLamports } from "@geoswap/protocol";
import type { Instruction } from "@solana/kit";
import { getCloseAccountInstruction } from "@solana-program/token";
import { beforeAll, expect, test } from "vitest";
import {
	mintsOfScene,
	type SolanaOrderScene,
	solanaOrderScene,
} from "../../../../test/order/solana-order-scene.ts";
import type { Landed, LandedInstruction } from "../read/read-landed.ts";
import { makesMarker } from "./makes-marker.ts";
import { markerInstructions } from "./marker-instructions.ts";

let scene: SolanaOrderScene;
let marker: SolanaAddress;
let instructions: LandedInstruction[];
let wanted: Parameters<typeof makesMarker>[1];
beforeAll(async () => {
	scene = await solanaOrderScene();
	const id = orderId(scene.order);
	const { vault } = scene;
	wanted = { base: vault.address, orderId: id, owner: vault.address };
	marker = await markerAddress(wanted);
	instructions = (
		await markerInstructions({
			feePayer: scene.feePayers[0],
			base: vault,
			orderId: id,
			owner: vault.address,
		})
	).map(asLanded);
});

test("a transaction makes a marker if it allocates and initializes its account, for this order and owner", () => {
	expect(makesMarker(landed({}), wanted)).toBe(true);
	expect(makesMarker(landed({}), { ...wanted, owner: scene.escrow.address })).toBe(false);
	expect(makesMarker(landed({}), { ...wanted, base: scene.escrow.address })).toBe(false);
	const otherId = orderId({ ...scene.order, minOutput: 1n });
	expect(makesMarker(landed({}), { ...wanted, orderId: otherId })).toBe(false);
});

test("a transaction that failed, or that the base did not sign, makes no marker", () => {
	expect(makesMarker(landed({ isFailed: true }), wanted)).toBe(false);
	expect(makesMarker(landed({ signers: [scene.feePayers[0].address] }), wanted)).toBe(false);
});

test("a partial or repeated marker, or one of another size, mint or program, does not count", async () => {
	const [transfer, allocate, initialize] = instructions;
	if (!transfer || !allocate || !initialize) throw new Error("a marker is made by three instructions");
	const with_ = (changed: LandedInstruction[]) => makesMarker(landed({ instructions: changed }), wanted);
	expect(with_([transfer, allocate, initialize])).toBe(true);
	expect(with_([])).toBe(false);
	expect(with_([allocate])).toBe(false);
	expect(with_([initialize])).toBe(false);
	expect(with_([allocate, allocate, initialize])).toBe(false);
	expect(with_([allocate, initialize, initialize])).toBe(false);
	const elsewhere = scene.stranger.address;
	expect(with_([allocate, { ...initialize, accounts: [elsewhere, ...initialize.accounts.slice(1)] }])).toBe(
		false,
	);
	expect(with_([allocate, { ...initialize, accounts: [marker, mintsOfScene.usdc] }])).toBe(false);
	expect(with_([{ ...allocate, program: elsewhere }, initialize])).toBe(false);
	expect(with_([allocate, { ...initialize, program: elsewhere }])).toBe(false);
	expect(with_([{ ...allocate, accounts: [marker, elsewhere] }, initialize])).toBe(false);
	for (let at = 0; at < allocate.data.length; at++) {
		const data = new Uint8Array(allocate.data);
		data[at] = (data[at] ?? 0) ^ 1;
		let made = false;
		try {
			made = with_([{ ...allocate, data }, initialize]);
		} catch {
			// Bytes that the chain itself would not have taken.
		}
		expect(made, `byte ${at}`).toBe(false);
	}
});

test("a marker that is closed in the same transaction does not count", () => {
	const close = asLanded(
		getCloseAccountInstruction({
			account: marker,
			destination: scene.feePayers[0].address,
			owner: scene.vault,
		}),
	);
	expect(makesMarker(landed({ instructions: [...instructions, close], lamportsAfter: 0n }), wanted)).toBe(
		false,
	);
});

function landed({
	isFailed = false,
	signers = [scene.feePayers[0].address, scene.vault.address],
	lamportsAfter = tokenAccountRentLamports,
	...message
}: {
	isFailed?: boolean;
	signers?: SolanaAddress[];
	instructions?: LandedInstruction[];
	lamportsAfter?: bigint;
}): Landed {
	return {
		signature: "0x",
		slot: 1,
		timestamp: undefined,
		isFailed,
		fee: 5_000n,
		signatures: new Map(),
		message: { feePayer: scene.feePayers[0].address, signers, instructions, ...message },
		lamports: new Map([[marker, { before: 0n, after: lamportsAfter }]]),
		tokens: new Map(),
	};
}

function asLanded({ programAddress, accounts, data }: Instruction): LandedInstruction {
	return {
		program: programAddress,
		accounts: (accounts ?? []).map(({ address }) => address),
		data: new Uint8Array(data ?? []),
	};
}
