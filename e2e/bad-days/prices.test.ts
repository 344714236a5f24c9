import { deriveDevnetKeys, devFeedAbi, movePrice, readFeeds } from "@geoswap/devnet";
import { encodeAbiParameters, encodeFunctionData, keccak256, numberToHex, parseUnits } from "viem";
import { expect, test } from "vitest";
import { callApi } from "../caller/call-api.ts";
import { swapIntent } from "../caller/do-swap.ts";
import { badDaysStack } from "./bad-days-stack.ts";
import { callAs } from "./call-as.ts";
import { liveThrough } from "./live-through.ts";

const stackOf = badDaysStack();

const amount = parseUnits("20", 6);

test("when a feed is stale, nothing that depends on it is quoted, and its next answer ends the incident", async () => {
	const stack = stackOf();
	const { destination } = stack.environment;
	const { feedKeeper } = deriveDevnetKeys().actors;
	const { feed } = destination.deployment.assets.find(({ symbol }) => symbol === "ETH") ?? {};
	if (!feed) throw new Error("ether has a feed");
	const gas = await destination.publicClient.getBalance({ address: feedKeeper });
	await liveThrough(stack, {
		name: "A feed is stale",
		how: "the keeper of a chain's ETH feed has no gas, and its last answer is set back by two hours",
		alert: "GeoswapFeedOld",
		labels: { chain: String(destination.chainId) },
		break: async () => {
			await destination.testClient.setBalance({ address: feedKeeper, value: 0n });
			await setBack(7_200n);
		},
		follow: async (page) => {
			await page.run("promtool query instant");
			await page.step("Wait, if the publisher knows of it", () =>
				destination.testClient.setBalance({ address: feedKeeper, value: gas }),
			);
		},
		isOver: async () => {
			const readings = await readFeeds(destination, destination.deployment);
			return readings.every(({ ageSeconds, heartbeatSeconds }) => ageSeconds < heartbeatSeconds);
		},
	});

	/** Makes the feed's last round older. */
	async function setBack(seconds: bigint): Promise<void> {
		const { address } = feed ?? { address: "0x" };
		const { publicClient, testClient } = destination;
		const [round, , , updatedAt] = await publicClient.readContract({
			address,
			abi: devFeedAbi,
			functionName: "latestRoundData",
		});
		// The third variable of the contract maps a round to its answer and its time.
		const slot = keccak256(encodeAbiParameters([{ type: "uint256" }, { type: "uint256" }], [round, 2n]));
		const index = numberToHex(BigInt(slot) + 1n, { size: 32 });
		await testClient.setStorageAt({ address, index, value: numberToHex(updatedAt - seconds, { size: 32 }) });
	}
});

test("when a pool is pushed away from its feed, the asset is not quoted, and trading it back ends the incident", async () => {
	const stack = stackOf();
	const { environment } = stack;
	const { origin, destination, client, keys } = environment;
	const { feed } = destination.deployment.assets.find(({ symbol }) => symbol === "ORB") ?? {};
	if (!feed) throw new Error("ORB has a feed");
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount });
	const from = { chain: origin, token: "USDC", amount };
	const intent = swapIntent({ from, to: { chain: destination, token: "ORB" }, account });
	const quoteStatus = async () => (await callApi(client, "/swap/quote", { body: intent })).status;
	const readAnswer = async () =>
		(
			await destination.publicClient.readContract({
				address: feed.address,
				abi: devFeedAbi,
				functionName: "latestRoundData",
			})
		)[1];
	expect(await quoteStatus()).toBe(200);
	const answer = await readAnswer();
	await liveThrough(stack, {
		name: "A pool is pushed",
		how: "somebody trades ORB 25 % up in all its pools; its feed stays",
		alert: "GeoswapPoolsApart",
		labels: { chain: String(destination.chainId), token: "ORB" },
		break: async () => {
			await movePools("+25");
			await expect.poll(quoteStatus, { timeout: 60_000 }).toBe(422);
		},
		follow: async (page) => {
			await page.run("promtool query instant");
			await page.step("A pushed pool is traded back within minutes", () => movePools("-20"));
		},
		isOver: async () => (await quoteStatus()) === 200,
	});

	/** Moves the price in all pools, and sets the feed to its earlier answer. */
	async function movePools(percent: string): Promise<void> {
		await movePrice(destination, destination.deployment, { symbol: "ORB", percent });
		const data = encodeFunctionData({ abi: devFeedAbi, functionName: "setAnswer", args: [answer] });
		await callAs(destination, keys.deployer, { to: feed?.address ?? "0x", data });
	}
});
