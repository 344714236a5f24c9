import { serverCommand, type TestChain } from "@geoswap/devnet";
import { geoEscrowAbi, geoVaultAbi } from "@geoswap/protocol";
import { createClient, waitForSwap } from "@geoswap/sdk";
import {
	type Address,
	encodeFunctionData,
	erc20Abi,
	formatEther,
	formatUnits,
	parseEther,
	parseUnits,
	zeroAddress,
} from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { expect, test } from "vitest";
import { signSwap, submitSigned, swapIntent } from "../caller/do-swap.ts";
import { escrowCredit } from "../chain/escrow-credit.ts";
import { tokenBalance } from "../chain/token-balance.ts";
import { declareWithdrawal } from "../trouble/declare-withdrawal.ts";
import { freezeInToken } from "../trouble/freeze-in-token.ts";
import { assetAddress } from "../wallet/make-order.ts";
import { badDaysStack } from "./bad-days-stack.ts";
import { callAs } from "./call-as.ts";
import { liveThrough } from "./live-through.ts";

const stackOf = badDaysStack();

const usdc = (text: string) => parseUnits(text, 6);
const swapAmount = usdc("40");
const always = async () => true;

/** The kind of a cap on fills, as the vault numbers the kinds. */
const fillCap = 0;

test("when relayers are empty, orders to the chain are refunded or wait, and gas ends the incident", async () => {
	const stack = stackOf();
	const { destination, keys } = stack.environment;
	const relayers = keys.relayers.slice(0, 2).map((key) => privateKeyToAddress(key));
	await liveThrough(stack, {
		name: "Relayers are empty",
		how: "the balance of both relayers of a chain is set to 0",
		alert: "GeoswapRelayerEmpty",
		labels: { chain: String(destination.chainId) },
		break: async () => {
			for (const address of relayers) await destination.testClient.setBalance({ address, value: 0n });
		},
		follow: async (page) => {
			await page.run("promtool query instant");
			for (const to of relayers) {
				await page.step('cast send --rpc-url "$RPC_URL"', () =>
					callAs(destination, keys.deployer, { to, value: parseEther("10") }),
				);
			}
			await declareMissingGas();
		},
		isOver: always,
	});

	/** Declares the gas that was taken, without which the audit would go on to report it. */
	async function declareMissingGas(): Promise<void> {
		const { serverEnvironment } = stack.environment;
		const missing = async () => {
			const printed = await serverCommand(serverEnvironment, ["reconcile", "--json"]);
			const { breaches } = JSON.parse(printed) as { breaches: { invariant: string; amount: string }[] };
			return breaches.find(({ invariant }) => invariant === "T3")?.amount;
		};
		// A refill that is not final yet is missing too.
		let before: string | undefined;
		await expect
			.poll(
				async () => {
					const last = before;
					before = await missing();
					return before !== undefined && before === last;
				},
				{ timeout: 120_000, interval: 10_000 },
			)
			.toBe(true);
		const [relayer = ""] = relayers;
		const amount = formatEther(BigInt(before ?? 0));
		await serverCommand(serverEnvironment, [
			...[
				"treasury",
				"withdraw",
				"--chain",
				String(destination.chainId),
				"--token",
				"ETH",
				"--amount",
				amount,
			],
			...["--from", relayer, "--to", privateKeyToAddress(keys.deployer), "--by", "ada", "--reason", "a test"],
		]);
	}
});

test("when the inventory is empty, swaps to the token are refused, and a transfer to the vault ends the incident", async () => {
	const stack = stackOf();
	const { destination, keys } = stack.environment;
	const token = assetAddress(destination, "USDC");
	const { vault } = destination.deployment.contracts;
	const treasury = privateKeyToAddress(keys.treasury);
	let taken = 0n;
	await liveThrough(stack, {
		name: "Inventory is empty",
		how: "the treasury withdraws all USDC from a vault",
		alert: "GeoswapInventoryEmpty",
		labels: { chain: String(destination.chainId), token: "USDC" },
		break: async () => {
			taken = await tokenBalance(destination, token, vault);
			await declareWithdrawal(stack.environment.serverEnvironment, {
				chainId: destination.chainId,
				symbol: "USDC",
				amount: formatUnits(taken, 6),
				to: treasury,
			});
			const data = encodeFunctionData({
				abi: geoVaultAbi,
				functionName: "withdraw",
				args: [token, treasury, taken],
			});
			await callAs(destination, keys.treasury, { to: vault, data });
		},
		follow: async (page) => {
			await page.run("psql");
			await page.step("Transfer tokens to the vault's address", () => {
				const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [vault, taken] });
				return callAs(destination, keys.treasury, { to: token, data });
			});
		},
		isOver: always,
	});
});

test("when the outflow cap is reached, deliveries wait or are refunded, and a higher cap ends the incident", async () => {
	const stack = stackOf();
	const { destination, keys } = stack.environment;
	const token = assetAddress(destination, "USDC");
	const { vault: address } = destination.deployment.contracts;
	const vault = { address, abi: geoVaultAbi } as const;
	const [usual] = await destination.publicClient.readContract({
		...vault,
		functionName: "capOf",
		args: [fillCap, token, zeroAddress],
	});
	await liveThrough(stack, {
		name: "The outflow cap is reached",
		how: "the admin lowers a vault's cap of USDC to 100 an hour, less than callers swap in a minute",
		alert: "GeoswapOutflowNearCap",
		labels: { chain: String(destination.chainId), token: "USDC" },
		break: () => setCap(usdc("100")),
		follow: async (page) => {
			await page.run("geoswapd reconcile");
			await page.step("have a member of CONFIG raise it by `setCap`", () => setCap(usual));
		},
		isOver: always,
	});

	async function setCap(perHour: bigint): Promise<void> {
		const data = encodeFunctionData({
			...vault,
			functionName: "setCap",
			args: [fillCap, token, zeroAddress, perHour],
		});
		await callAs(destination, keys.deployer, { to: address, data });
	}
});

test("when the vault is paused, orders to the chain are refunded, and unpausing ends the incident", async () => {
	const stack = stackOf();
	const { destination, keys } = stack.environment;
	const chain = String(destination.chainId);
	const { vault } = destination.deployment.contracts;
	const call = (functionName: "pause" | "unpause") => ({
		to: vault,
		data: encodeFunctionData({ abi: geoVaultAbi, functionName }),
	});
	await liveThrough(stack, {
		name: "The vault is paused",
		how: "the guardian calls `pause` on a vault",
		alert: "GeoswapVaultPaused",
		labels: { chain },
		break: () => callAs(destination, keys.guardian, call("pause")),
		follow: async (page) => {
			await page.run("geoswapd pauses set", { CHAIN: chain });
			await page.step("have a member of RESUME call `unpause`", () =>
				callAs(destination, keys.deployer, call("unpause")),
			);
			await page.run("geoswapd pauses lift", { CHAIN: chain });
		},
		isOver: always,
	});
});

test("when a recipient is frozen, its swap is refunded and no other is affected", async () => {
	const stack = stackOf();
	const { environment } = stack;
	const { origin, destination } = environment;
	const apiKey = await environment.newKey();
	const recipient = privateKeyToAddress(generatePrivateKey());
	let unfreeze = async () => {};
	let wallet: Address | undefined;
	await liveThrough(stack, {
		name: "A recipient is frozen",
		how: "a token refuses transfers to the recipient of a swap",
		alert: "GeoswapRecipientsRefuse",
		labels: { destination: String(destination.chainId) },
		lingers: true,
		break: async () => {
			unfreeze = await freezeInToken(destination, {
				token: assetAddress(destination, "USDC"),
				holder: recipient,
			});
			({ wallet } = await startSwap({ recipient, apiKey }));
		},
		follow: async (page) => {
			await page.run("psql");
			await page.run("geoswapd keys revoke", { KEY_ID: apiKey });
			await unfreeze();
		},
		// The key that could query the swap's status is revoked.
		isOver: async () =>
			wallet !== undefined &&
			(await tokenBalance(origin, assetAddress(origin, "USDC"), wallet)) === swapAmount,
	});
});

test("when a refund is only credited, the swap waits for the wallet's issuer, and `claim` ends the incident", async () => {
	const stack = stackOf();
	const { environment } = stack;
	const { origin, destination } = environment;
	const token = assetAddress(origin, "USDC");
	const recipient = privateKeyToAddress(generatePrivateKey());
	const thaw: (() => Promise<void>)[] = [];
	let swap: Awaited<ReturnType<typeof startSwap>> | undefined;
	await liveThrough(stack, {
		name: "A refund is credited",
		how: "a token refuses transfers to the recipient, the other token to the wallet that paid",
		alert: "GeoswapRefundOwed",
		labels: { chain: String(origin.chainId) },
		break: async () => {
			thaw.push(
				await freezeInToken(destination, { token: assetAddress(destination, "USDC"), holder: recipient }),
			);
			swap = await startSwap({
				recipient,
				apiKey: await environment.newKey(),
				beforeSubmit: async (wallet) => {
					thaw.push(await freezeInToken(origin, { token, holder: wallet }));
				},
			});
		},
		follow: async (page) => {
			await page.run("geoswapd reconcile");
			await page.step(
				"anyone can pay the credit out once the token allows it, by `claim` on the escrow",
				async () => {
					for (const unfreeze of thaw) await unfreeze();
					if (!swap) throw new Error("the swap was submitted");
					await claim(origin, token, swap.wallet);
				},
			);
		},
		isOver: async () => {
			const { status } = (await swap?.ended()) ?? {};
			return status === "refunded" && (await escrowCredit(origin, token, swap?.wallet ?? "0x")) === 0n;
		},
	});
});

/** Submits a swap of 40 USDC from a new wallet, with a given API key. */
async function startSwap({
	recipient,
	apiKey,
	beforeSubmit = async () => {},
}: {
	recipient: Address;
	apiKey: string;
	beforeSubmit?: (wallet: Address) => Promise<void>;
}) {
	const { environment } = stackOf();
	const { origin, destination, baseUrl, deployment: pins } = environment;
	const amount = swapAmount;
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount });
	const caller = { client: createClient({ baseUrl, apiKey }), pins, account };
	const from = { chain: origin, token: "USDC", amount };
	const intent = swapIntent({ from, to: { chain: destination, token: "USDC" }, account, recipient });
	const signed = await signSwap(caller, intent);
	await beforeSubmit(account.address);
	const { swapId } = await submitSigned(caller, signed);
	return { wallet: account.address, ended: () => waitForSwap(caller.client, swapId) };
}

/** Claims a credit for its beneficiary, as a stranger. */
async function claim(chain: TestChain, token: Address, beneficiary: Address): Promise<void> {
	const { environment } = stackOf();
	const data = encodeFunctionData({ abi: geoEscrowAbi, functionName: "claim", args: [token, beneficiary] });
	await callAs(chain, environment.keys.deployer, { to: chain.deployment.contracts.escrow, data });
}
