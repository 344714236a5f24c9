import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inputAddress, openOrder, orderId, prepareOrder, solanaNativeToken } from "@geoswap/protocol";
import { getProgramDerivedAddress, type Instruction, lamports } from "@solana/kit";
import { hexToBytes } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildProgram } from "./build-program.ts";
import { createScene } from "./scene.ts";
import { reads, tokensOf, writes } from "./test-helpers.ts";

let folder: string;
let hostile: Uint8Array;
beforeAll(() => {
	folder = mkdtempSync(join(tmpdir(), "hostile-upgrade-"));
	const file = join(folder, "hostile.so");
	buildProgram(join(import.meta.dirname, "hostile-upgrade"), file);
	hostile = new Uint8Array(readFileSync(file));
});
afterAll(() => rmSync(folder, { recursive: true }));

test("with the upgrade key, a wallet that signs an honest opening loses at most that order's input", async () => {
	const scene = await createScene();
	const order = scene.orderFrom();
	const id = orderId(order);
	const [, fund, open] = await scene.opening(order);
	if (!fund || !open) throw new Error("there are three instructions");
	// Preparing needs the real program. The upgrade then comes before the wallet's transaction lands.
	await scene.act(await prepareOrder(scene.program, order, scene.payer));
	scene.svm.airdrop(scene.wallet.address, lamports(5_000_000_000n));
	scene.svm.addProgram(scene.program, hostile);
	await scene.act(fund, open);
	const [address, bump] = await getProgramDerivedAddress({
		programAddress: scene.program,
		seeds: ["order", hexToBytes(id)],
	});
	const thiefs = await tokensOf(scene.thief.address, scene.mint.address);
	const take: Instruction = {
		programAddress: scene.program,
		accounts: [
			reads(address),
			writes(await inputAddress(scene.program, id)),
			writes(thiefs),
			reads("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" as typeof address),
		],
		data: Uint8Array.of(99, ...hexToBytes(id), bump),
	};
	expect((await scene.send([take], scene.thief)).error).toBeUndefined();
	expect(scene.tokensIn(thiefs)).toBe(order.inputAmount);
	expect(await scene.tokens(scene.wallet.address)).toBe(1_000_000n - order.inputAmount);
	expect(scene.balance(scene.wallet.address)).toBe(5_000_000_000n);
});

test("an instruction of the program that had the wallet among its accounts would lose all of the wallet's tokens", async () => {
	const scene = await createScene();
	const order = scene.orderFrom();
	await scene.act(await prepareOrder(scene.program, order, scene.payer));
	scene.svm.addProgram(scene.program, hostile);
	const open = await openOrder(scene.program, order);
	const source = await tokensOf(scene.wallet.address, scene.mint.address);
	const thiefs = await tokensOf(scene.thief.address, scene.mint.address);
	const [signature] = (await scene.funding(order)).accounts?.slice(-1) ?? [];
	if (!signature) throw new Error("the wallet signs its transfer");
	const token = reads("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" as typeof source);
	const accounts = [signature, writes(source), writes(thiefs), token, reads(solanaNativeToken)];
	expect((await scene.send([{ ...open, accounts }])).error).toBeUndefined();
	expect(await scene.tokens(scene.wallet.address)).toBe(0n);
	expect(scene.tokensIn(thiefs)).toBe(1_000_000n);
});
