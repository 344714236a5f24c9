// Writes orders.json: orders with their ids and digests. The tests of this package, of the contracts and of the program on
// Solana check it, so a change on one side alone cannot pass.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Address, type Hex, keccak256, toHex } from "viem";
import {
	attestationDigest,
	attesterSetHash,
	fromWord,
	type Order,
	orderDigest,
	orderId,
	packDeadlines,
	toWord,
} from "../src/index.ts";

const attesterSet = {
	threshold: 2,
	attesters: [
		"0x1000000000000000000000000000000000000001",
		"0x2000000000000000000000000000000000000002",
		"0xf000000000000000000000000000000000000003",
	] as Address[],
};

const escrow: Address = "0xE5C0E5C0e5c0E5c0E5c0e5c0E5C0E5C0E5c0E5c0";

const evmToEvm: Order = {
	wallet: word("wallet"),
	inputToken: word("input token"),
	inputAmount: 10_000_000n,
	originChainId: 31337n,
	destinationChainId: 31338n,
	outputToken: word("output token"),
	minOutput: 9_950_000n,
	recipient: word("recipient"),
	topUp: 0n,
	escrow: toWord(escrow),
	originVault: word("origin vault"),
	destinationVault: word("destination vault"),
	attesterSet: attesterSetHash(attesterSet),
	swapKey: `0x${"0".repeat(32)}0192f3c4a5b67c8d9e0f112233445566`,
	deadlines: packDeadlines({
		openDeadline: 1_800_000_300n,
		fillDeadline: 1_800_002_000n,
		refundAfter: 1_800_090_000n,
	}),
};

const evmToSolana: Order = {
	...evmToEvm,
	destinationChainId: 792703809n,
	destinationVault: keccak256(toHex("solana vault")),
	outputToken: keccak256(toHex("solana mint")),
	recipient: keccak256(toHex("solana recipient")),
};

const orders: Record<string, Order> = {
	"EVM to EVM": evmToEvm,
	"native to native, same chain": {
		...evmToEvm,
		destinationChainId: 31337n,
		inputToken: toHex(0, { size: 32 }),
		outputToken: toHex(0, { size: 32 }),
		destinationVault: evmToEvm.originVault,
	},
	"EVM to Solana: 32-byte addresses": evmToSolana,
	"EVM to Solana with lamports for gas": { ...evmToSolana, topUp: 2_000_000n },
	"with the native token for gas": { ...evmToEvm, topUp: 3_000_000_000_000_000n },
	"largest amounts and times": {
		...evmToEvm,
		inputAmount: 2n ** 256n - 1n,
		minOutput: 2n ** 256n - 1n,
		topUp: 2n ** 256n - 1n,
		deadlines: 2n ** 192n - 1n,
	},
};

const orderIds = Object.values(orders).map(orderId);
const message = { originChainId: 31337, escrow: fromWord(evmToEvm.escrow) };
const vectors = {
	attesterSet: { ...attesterSet, hash: attesterSetHash(attesterSet) },
	orders: Object.entries(orders).map(([name, order]) => ({
		name,
		order: plain(order),
		orderId: orderId(order),
		digest: orderDigest(order),
	})),
	attestation: {
		...message,
		orderIds,
		releaseDigest: attestationDigest({ ...message, kind: "Release", orderIds }),
		refundDigest: attestationDigest({ ...message, kind: "Refund", orderIds }),
	},
};

const path = join(import.meta.dirname, "orders.json");
writeFileSync(path, `${JSON.stringify(vectors, null, "\t")}\n`);
console.log(`written: ${path}`);

function word(name: string): Hex {
	return toWord(`0x${keccak256(toHex(name)).slice(26)}`);
}

/** Returns the order with numbers as words too, which both JSON readers parse without losing a digit. */
function plain(order: Order): Record<string, string> {
	return Object.fromEntries(
		Object.entries(order).map(([field, value]) => [
			field,
			typeof value === "bigint" ? toHex(value, { size: 32 }) : value,
		]),
	);
}
