import {
	decodeOrderAccount,
	decodeRecordAccount,
	decodeVaultAccount,
	fillOrder,
	orderAddress,
	orderId,
	programAccountSizes,
	readProgramEvents,
	recordAddress,
	type SolanaAddress,
	setVaultRoles,
	solanaNativeToken,
	unpackDeadlines,
	voidOrder,
} from "@geoswap/protocol";
import { expect, test } from "vitest";
import { createScene, native, type Scene } from "./scene.ts";

/** Returns the bytes of an account that the program owns. */
function dataOf(scene: Scene, address: SolanaAddress): Uint8Array {
	const account = scene.svm.getAccount(address);
	if (!account.exists || account.programAddress !== scene.program) throw new Error(`${address} is missing`);
	return account.data;
}

test("the client reads an order's account as the program wrote it, from its opening to its payment", async () => {
	const scene = await createScene();
	const order = await scene.opened();
	const read = async () =>
		decodeOrderAccount(dataOf(scene, await orderAddress(scene.program, orderId(order))));
	const opened = {
		state: "opened",
		isPaid: false,
		isLocal: false,
		inputAmount: order.inputAmount,
		...unpackDeadlines(order.deadlines),
		rent: scene.svm.minimumBalanceForRentExemption(BigInt(programAccountSizes.order)),
		orderId: orderId(order),
		payer: scene.payer.address,
		wallet: scene.wallet.address,
		vault: scene.vault,
		attesterSet: order.attesterSet,
		token: scene.mint.address,
	};
	expect(await read()).toEqual(opened);
	const { logs } = await scene.act(await scene.decision("Refund", [order]));
	expect(readProgramEvents(logs, scene.program)).toEqual([{ name: "refunded", orderId: orderId(order) }]);
	expect(await read()).toEqual({ ...opened, state: "refunded" });
	await scene.act(await scene.payTo("wallet", order));
	expect(await read()).toMatchObject({ state: "refunded", isPaid: true });
});

test("the client reads the records of filled and voided orders, and what the program logged about them", async () => {
	const scene = await createScene();
	const { program, operator, vault } = scene;
	const [filled, voided] = [scene.orderTo({ topUp: 2_000_000n }), scene.orderTo({ outputToken: native })];
	const { logs } = await scene.act(
		await fillOrder(program, filled, { operator, amount: 950n }),
		await voidOrder(program, voided, operator),
	);
	expect(readProgramEvents(logs, program)).toEqual([
		{ name: "filled", orderId: orderId(filled), amount: 950n, topUp: 2_000_000n },
		{ name: "voided", orderId: orderId(voided) },
	]);
	const closableAt = unpackDeadlines(filled.deadlines).refundAfter + 86_400n;
	for (const [order, content] of [
		[filled, { state: "filled", amount: 950n, topUp: 2_000_000n }],
		[voided, { state: "voided", amount: 0n, topUp: 0n }],
	] as const) {
		const data = dataOf(scene, await recordAddress(program, orderId(order)));
		expect(decodeRecordAccount(data)).toEqual({ ...content, closableAt, vault });
	}
});

test("the client reads a vault's roles and caps", async () => {
	const scene = await createScene();
	const { owner, operator, guardian, thief, vault, owned, start } = scene;
	const read = () => decodeVaultAccount(dataOf(scene, vault));
	expect(read()).toEqual({
		isPaused: false,
		owner: owner.address,
		pendingOwner: undefined,
		guardian: guardian.address,
		operators: [operator.address],
		caps: [
			{ token: scene.mint.address, perHour: 10_000_000n, used: 0n, updatedAt: start },
			{ token: solanaNativeToken, perHour: 5_000_000_000n, used: 0n, updatedAt: start },
		],
	});
	const operators = [thief.address, operator.address];
	await scene.act(setVaultRoles(owned, { pendingOwner: thief.address, operators }));
	expect(read()).toMatchObject({ pendingOwner: thief.address, guardian: undefined, operators });
	expect(() => setVaultRoles(owned, { operators: Array.from({ length: 5 }, () => vault) })).toThrow(
		RangeError,
	);
});

test("bytes of another kind or length are no account of the program", async () => {
	const scene = await createScene();
	const order = await scene.opened();
	const data = dataOf(scene, await orderAddress(scene.program, orderId(order)));
	const vault = dataOf(scene, scene.vault);
	const decoders = [decodeOrderAccount, decodeRecordAccount, decodeVaultAccount];
	for (const bytes of [data.slice(1), Uint8Array.of(...data, 0), new Uint8Array(240), new Uint8Array()]) {
		for (const decode of decoders) expect(decode(bytes)).toBeUndefined();
	}
	expect(decodeOrderAccount(Uint8Array.of(1, 4, ...data.slice(2)))).toBeUndefined();
	expect(decodeRecordAccount(Uint8Array.of(3, 0, ...new Uint8Array(62)))).toBeUndefined();
	expect([decodeOrderAccount(vault), decodeVaultAccount(data)]).toEqual([undefined, undefined]);
});

test("data that another program logged is no event, even if a log line imitates the runtime's", async () => {
	const scene = await createScene();
	const { program } = scene;
	const order = await scene.opened();
	const { logs } = await scene.act(await scene.decision("Release", [order]));
	const line = logs.find((text) => text.startsWith("Program data: "));
	if (!line) throw new Error("the program logs its decision");
	const other = scene.vault;
	const outside = [`Program ${other} invoke [1]`, line, `Program ${other} success`, line];
	expect(readProgramEvents(outside, program)).toEqual([]);
	const imitated = [`Program ${other} invoke [1]`, `Program log: Program ${program} invoke [2]`, line];
	expect(readProgramEvents(imitated, program)).toEqual([]);
	const noise = [`Program ${program} invoke [1]`, "Program log: success", "Program log: invoke [2]"];
	const called = [`Program ${other} invoke [2]`, line, `Program ${other} failed: custom program error: 0x1`];
	const released = { name: "released", orderId: orderId(order) };
	expect(readProgramEvents([...noise, ...called, line, "Program data: bm90IG91cnM="], program)).toEqual([
		released,
	]);
});
