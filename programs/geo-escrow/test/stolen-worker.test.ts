import {
	acceptVault,
	closeOrder,
	closeRecord,
	createVault,
	expireOrder,
	fillOrder,
	inputAddress,
	type Order,
	openOrder,
	orderAddress,
	orderId,
	pauseVault,
	payOrder,
	prepareOrder,
	recordAddress,
	setVaultCap,
	setVaultRoles,
	toSolanaWord,
	vaultAddress,
	voidOrder,
	withdrawFromVault,
} from "@geoswap/protocol";
import { type AccountMeta, AccountRole, type Address, type Instruction } from "@solana/kit";
import { expect, test } from "vitest";
import { amountFor, createHistory, type History, isFromSolana, stateOf } from "./history.ts";
import { isNative, tokensOf } from "./test-helpers.ts";

const count = Number(process.env.GEOSWAP_HISTORIES ?? (process.env.GEOSWAP_FULL ? 1_000 : 8));
const seed = Number(process.env.GEOSWAP_SEED) % 1_000_000;
const transactions = 60;
const caps = { token: 10_000_000n, sol: 5_000_000_000n };
const hour = 3_600n;

type Outflow = { at: bigint; token: bigint; sol: bigint };

/** Returns the maximum that left within any hour. */
function maxInAnHour(outflows: readonly Outflow[], kind: "token" | "sol"): bigint {
	let most = 0n;
	for (const [i, { at }] of outflows.entries()) {
		let sum = 0n;
		for (const other of outflows.slice(i)) if (other.at < at + hour) sum += other[kind];
		if (sum > most) most = sum;
	}
	return most;
}

/** Plays a history in which a thief has the keys of the worker: operator, fee payer, and one attester's. */
async function play(history: History) {
	const { scene, any, pick, newOrder } = history;
	const { program, payer, operator, thief, vault } = scene;
	const inventoryAccount = await tokensOf(vault, scene.mint.address);
	const thiefs = { tokens: await tokensOf(thief.address, scene.mint.address) };
	await scene.act(await createVault(program, { payer, owner: thief }));
	const ownVault = await vaultAddress(program, thief.address);
	const honest: Order[] = [];
	const invented: Order[] = [];
	for (let i = 0; i < 6; i++) {
		const order = newOrder();
		if (!isFromSolana(order)) continue;
		await scene.act(...(await scene.opening(order)));
		honest.push(order);
	}
	const walletBefore = {
		tokens: await scene.tokens(scene.wallet.address),
		sol: scene.balance(scene.wallet.address),
	};
	const payerBefore = scene.balance(payer.address);
	const outflows: Outflow[] = [];
	/** A hasty thief fills as much as it can within an hour. */
	const isHasty = any(2) === 0;

	async function someOrder(): Promise<Order> {
		if (honest.length > 0 && any(2) === 0) return pick(honest);
		if (invented.length > 0 && any(3) > 0) return pick(invented);
		const order = newOrder({
			...(any(2) === 0 && { recipient: toSolanaWord(thief.address) }),
			...(any(3) === 0 && { wallet: toSolanaWord(thief.address) }),
			...(any(4) === 0 && { originVault: toSolanaWord(ownVault) }),
		});
		invented.push(order);
		return order;
	}

	/** Fills what an operator can fill, which is an order that the thief invents, or a deposit within Solana. */
	async function someFill(): Promise<Instruction> {
		const within = honest.filter((order) => order.destinationChainId === order.originChainId);
		const recipient = toSolanaWord(thief.address);
		const order = within.length > 0 && any(4) === 0 ? pick(within) : newOrder({ recipient }, "to");
		invented.push(order);
		const cap = isNative(order.outputToken) ? caps.sol : caps.token;
		const amount = isHasty
			? pick([cap / 2n, cap])
			: pick([amountFor(order), cap / 4n, cap / 2n, cap, cap + 1n]);
		return fillOrder(program, order, { operator, amount });
	}

	async function someInstruction(order: Order): Promise<Instruction> {
		const amount = amountFor(order);
		const kind = pick(["Release", "Refund"] as const);
		const owned = { program, vault, owner: pick([operator, payer, thief]) };
		return pick([
			someFill,
			someFill,
			someFill,
			() => fillOrder(program, order, { operator, amount }),
			() => voidOrder(program, order, operator),
			() => expireOrder(program, orderId(order), any(2) === 0 ? { vault, operator } : undefined),
			() => payOrder(program, order, { to: pick(["vault", "wallet"]) }),
			() => payOrder(program, order, { to: "wallet", instead: thiefs.tokens }),
			() => closeOrder(program, orderId(order), payer.address),
			() => prepareOrder(program, order, payer),
			() => openOrder(program, order),
			() => scene.decision(kind, [order], scene.keys.slice(0, pick([0, 1]))),
			() => closeRecord(program, orderId(order), vault),
			async () => withdrawFromVault(owned, { amount: 3n * caps.sol, to: thief.address }),
			async () =>
				withdrawFromVault(owned, {
					amount: 3n * caps.token,
					to: thiefs.tokens,
					from: inventoryAccount,
				}),
			async () => setVaultCap(owned, scene.mint.address, 2n ** 50n),
			async () => setVaultRoles(owned, { operators: [thief.address] }),
			async () => acceptVault(owned),
			async () => pauseVault(owned, false),
		])();
	}

	/** Replaces one of the accounts by another, with or without the right to write it. */
	async function withOtherAccount(instruction: Instruction): Promise<Instruction> {
		const other = pick(honest.length > 0 ? honest : invented);
		const address = pick<Address>([
			thief.address,
			thiefs.tokens,
			vault,
			ownVault,
			await tokensOf(vault, scene.mint.address),
			...(other
				? [
						await orderAddress(program, orderId(other)),
						await inputAddress(program, orderId(other)),
						await recordAddress(program, orderId(other)),
					]
				: []),
		]);
		const accounts: AccountMeta[] = [...(instruction.accounts ?? [])];
		accounts[any(accounts.length)] = { address, role: pick([AccountRole.READONLY, AccountRole.WRITABLE]) };
		return { ...instruction, accounts };
	}

	function withOtherByte(instruction: Instruction): Instruction {
		const data = new Uint8Array(instruction.data ?? []);
		data[any(data.length)] = any(256);
		return { ...instruction, data };
	}

	const inventory = async () => ({ token: await scene.tokens(vault), sol: scene.balance(vault) });
	for (let sent = 0; sent < transactions; sent++) {
		if (any(4) === 0) history.passTime(any(isHasty ? 60 : pick([60, 60, 60, 600, 3_600, 40_000])));
		const instructions: Instruction[] = [];
		for (let i = pick([1, 1, 1, 2, 3]); i > 0; i--) {
			const instruction =
				isHasty && any(2) === 0 ? await someFill() : await someInstruction(await someOrder());
			const twist = any(6);
			instructions.push(
				twist === 0
					? await withOtherAccount(instruction)
					: twist === 1
						? withOtherByte(instruction)
						: instruction,
			);
		}
		const before = await inventory();
		await scene.send(instructions, pick([thief, payer])).catch(() => undefined);
		const after = await inventory();
		const lost = (a: bigint, b: bigint) => (a > b ? a - b : 0n);
		outflows.push({
			at: history.time(),
			token: lost(before.token, after.token),
			sol: lost(before.sol, after.sol),
		});
	}
	let rentOfRecords = 0n;
	for (const order of [...honest, ...invented])
		rentOfRecords += scene.balance(await recordAddress(program, orderId(order)));
	const paid = payerBefore - scene.balance(payer.address);
	return { honest, walletBefore, outflows, rentOfRecords, paid };
}

test(`a thief with all keys of the worker takes no deposit and at most twice the caps in an hour, in ${count} histories`, {
	timeout: 3_600_000,
}, async () => {
	const most = { token: 0n, sol: 0n };
	const all = { token: 0n, sol: 0n, rentOfRecords: 0n, paid: 0n, deposits: 0, filled: 0 };
	for (let i = 0; i < count; i++) {
		const history = await createHistory(seed + i);
		const { scene } = history;
		const { honest, walletBefore, outflows, rentOfRecords, paid } = await play(history);
		all.rentOfRecords += rentOfRecords;
		all.paid += paid;
		// Every deposit is still in its order, with its wallet, or with the vault that delivered its output.
		const expected = { tokens: walletBefore.tokens, sol: walletBefore.sol };
		for (const order of honest) {
			const found = await stateOf(scene, orderId(order));
			const input = await inputAddress(scene.program, orderId(order));
			const isSol = isNative(order.inputToken);
			const isHeld = found && !found.isPaid;
			if (isHeld && !isSol) expect(scene.tokensIn(input), `seed ${seed + i}`).toBe(order.inputAmount);
			if (isHeld && isSol) {
				const address = await orderAddress(scene.program, orderId(order));
				expect(scene.balance(address), `seed ${seed + i}`).toBeGreaterThan(order.inputAmount);
			}
			all.deposits += 1;
			if (isHeld) continue;
			// A paid order whose account is closed was refunded, unless its own fill released it.
			const isReleased = found ? found.state === 2 : scene.wasFilled(orderId(order));
			if (isReleased) all.filled += 1;
			else if (isSol) expected.sol += order.inputAmount;
			else expected.tokens += order.inputAmount;
		}
		expect(await scene.tokens(scene.wallet.address), `seed ${seed + i}`).toBe(expected.tokens);
		expect(scene.balance(scene.wallet.address), `seed ${seed + i}`).toBe(expected.sol);
		for (const kind of ["token", "sol"] as const) {
			const inAnHour = maxInAnHour(outflows, kind);
			if (inAnHour > most[kind]) most[kind] = inAnHour;
			all[kind] += outflows.reduce((sum, outflow) => sum + outflow[kind], 0n);
		}
	}
	console.log(
		`${count} histories of ${transactions} transactions: ${all.deposits} deposits, ${all.filled} of them delivered, none taken; left the vaults in all ${all.token} units and ${all.sol} lamports, in one hour at most ${most.token} of a cap of ${caps.token} and ${most.sol} of ${caps.sol}. The lamports contain ${all.rentOfRecords} of rent in records, which come back. The fee payer paid ${all.paid} lamports for fees and the rent of orders`,
	);
	expect(most.token).toBeLessThanOrEqual(2n * caps.token);
	expect(most.sol).toBeLessThanOrEqual(2n * caps.sol);
	// The thief took something, up to the caps. Otherwise the histories would show nothing.
	expect(most.token).toBeGreaterThan(0n);
});
