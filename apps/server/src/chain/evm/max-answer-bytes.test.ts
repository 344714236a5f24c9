import { geoEscrowAbi } from "@geoswap/protocol";
import { encodeAbiParameters, encodeEventTopics, type Hex, pad } from "viem";
import { expect, test } from "vitest";
import { maxAnswerBytes } from "./connect-chain.ts";

/**
 * The cheapest ways to emit each event that anyone can emit, by the EVM's gas schedule alone, which leaves out most of
 * what the escrow computes. An order is opened by writing a new slot (22,100) and decided by changing it (5,000). A log
 * costs 375, 375 for each topic and 8 for each byte. A credit that is paid out clears a slot (5,000).
 */
const cheapest = [
	{ events: ["Opened"], writes: 22_100 },
	{ events: ["Refunded", "Credited"], writes: 5_000 },
	{ events: ["Claimed"], writes: 5_000 },
] as const;

/** Larger blocks can only be read in parts if a stranger fills them with nothing but these events. */
const blockGas = 100_000_000;

const word = pad("0xff", { size: 32 });
const address: Hex = `0x${"ff".repeat(20)}`;

/** Returns the size of a log as nodes write it, with all fields at their longest, and the gas that it costs. */
function longestLog(name: (typeof cheapest)[number]["events"][number]): { bytes: number; gas: number } {
	const event = geoEscrowAbi.find((item) => item.type === "event" && item.name === name);
	if (event?.type !== "event") throw new Error(`no event ${name}`);
	const args = { orderId: word, wallet: address, beneficiary: address, token: address };
	const topics = encodeEventTopics({ abi: geoEscrowAbi, eventName: name, args } as never) as Hex[];
	const plain = event.inputs.filter((input) => !input.indexed);
	const words = name === "Opened" ? 11 : plain.length;
	const data = encodeAbiParameters(
		Array.from({ length: words }, () => ({ type: "bytes32" })),
		Array<Hex>(words).fill(word),
	);
	const log = {
		address,
		topics,
		data,
		blockHash: word,
		blockNumber: "0xffffffff",
		blockTimestamp: "0xffffffff",
		transactionHash: word,
		transactionIndex: "0xffff",
		logIndex: "0xfffff",
		removed: false,
	};
	return { bytes: JSON.stringify(log).length + 1, gas: 375 * (1 + topics.length) + 8 * 32 * words };
}

test("the events that a third party can put into a block of 100 million gas fit into one response", () => {
	for (const { events, writes } of cheapest) {
		const logs = events.map(longestLog);
		const bytes = logs.reduce((sum, log) => sum + log.bytes, 0);
		const gas = writes + logs.reduce((sum, log) => sum + log.gas, 0);
		const inBlock = Math.ceil((blockGas / gas) * bytes);
		console.log(`${events.join(" + ")}: at least ${gas} gas and ${bytes} bytes, ${inBlock} bytes in a block`);
		expect(inBlock).toBeLessThan(maxAnswerBytes);
	}
});
