import { type Hex, keccak256, numberToHex, parseEther, parseGwei, zeroAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { createSimEvmChain } from "./create-sim-evm-chain.ts";

const accountOf = (number: number) => privateKeyToAccount(numberToHex(number, { size: 32 }));
const [sender, other, attester] = [accountOf(1), accountOf(2), accountOf(3)];
const startMs = 1_700_000_000_000;

async function start() {
	const chain = await createSimEvmChain({
		chainId: 31_337,
		name: "sim",
		startMs,
		finalityBlocks: 3,
		attesterSet: { threshold: 1, attesters: [attester.address] },
		relayers: [sender.address],
	});
	chain.give(zeroAddress, other.address, parseEther("1"));
	let atMs = startMs;
	const produce = async (options: Omit<Parameters<typeof chain.produce>[0], "atMs"> = {}) => {
		atMs += 1_000;
		await chain.produce({ atMs, ...options });
	};
	const pay = async (nonce: number, { from = sender, feeGwei = "3", tipGwei = "1" } = {}): Promise<Hex> => {
		const raw = await from.signTransaction({
			type: "eip1559",
			chainId: chain.chainId,
			nonce,
			to: attester.address,
			value: 1n,
			gas: 21_000n,
			maxFeePerGas: parseGwei(feeGwei),
			maxPriorityFeePerGas: parseGwei(tipGwei),
		});
		chain.request("eth_sendRawTransaction", [raw]);
		return keccak256(raw);
	};
	const received = () => chain.balanceOf(zeroAddress, attester.address);
	return { chain, produce, pay, received };
}

test("a transaction that is held back waits, and so do later nonces of its sender", async () => {
	const { chain, produce, pay, received } = await start();
	const first = await pay(0);
	await pay(1);
	await pay(0, { from: other });
	await produce({ holdBack: (hash) => hash === first });
	expect(received()).toBe(1n);
	expect(chain.waiting()).toHaveLength(2);
	await produce({ isEmpty: true });
	expect(received()).toBe(1n);
	await produce();
	expect(received()).toBe(3n);
});

test("a dropped transaction is gone until it is sent again", async () => {
	const { chain, produce, pay, received } = await start();
	const hash = await pay(0);
	chain.drop((dropped) => dropped === hash);
	await produce();
	expect(received()).toBe(0n);
	expect(await pay(0)).toBe(hash);
	await produce();
	expect(received()).toBe(1n);
});

test("a transaction whose fee is too low waits until the gas price falls", async () => {
	const { chain, produce, pay, received } = await start();
	await pay(0);
	chain.setGasPrice(5);
	await produce();
	expect(received()).toBe(0n);
	chain.setGasPrice(1);
	await produce();
	expect(received()).toBe(1n);
});

test("no block becomes final while finality is stalled, and finality catches up afterwards", async () => {
	const { chain, produce } = await start();
	const before = chain.heights();
	chain.stallFinality(true);
	for (let i = 0; i < 5; i++) await produce();
	expect(chain.heights()).toEqual({ latest: before.latest + 5, finalized: before.finalized });
	chain.stallFinality(false);
	await produce();
	expect(chain.heights().finalized).toBe(before.finalized + 6);
});

test("a reorg keeps the chosen transactions and drops no final block", async () => {
	const { chain, produce, pay, received } = await start();
	await pay(0);
	await produce();
	for (let i = 0; i < 3; i++) await produce();
	const kept = await pay(1);
	await pay(0, { from: other });
	await produce();
	await produce();
	const { latest, finalized } = chain.heights();
	const finalBlock = chain.request("eth_getBlockByNumber", [numberToHex(finalized), false]);
	const newest = chain.request("eth_getBlockByNumber", ["latest", false]) as { hash: Hex };
	expect(received()).toBe(3n);
	await chain.reorg({ depth: 99, keep: (hash) => hash === kept });
	expect(chain.heights()).toEqual({ latest, finalized });
	expect(received()).toBe(2n);
	expect(chain.nonceOf(other.address)).toBe(0);
	expect(chain.request("eth_getBlockByNumber", [numberToHex(finalized), false])).toEqual(finalBlock);
	expect(chain.request("eth_getBlockByHash", [newest.hash, false])).toBeNull();
	expect(chain.minedOf(sender.address).map(({ nonce }) => nonce)).toEqual([0, 1]);
});

test("a delegated account has at most one pending transaction", async () => {
	const { chain, pay } = await start();
	chain.placeCode(other.address, `0xef0100${chain.deployment.contracts.delegate.slice(2)}`);
	await pay(0, { from: other });
	await expect(pay(1, { from: other })).rejects.toThrow("in-flight transaction limit");
	await pay(0, { from: other, feeGwei: "6", tipGwei: "2" });
	expect(chain.waiting()).toHaveLength(1);
});
