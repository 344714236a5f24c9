import { createRequire } from "node:module";
import {
	type DeployConfigInput,
	DeployError,
	deployContracts,
	devnetKeys,
	parseDeployConfig,
} from "@geoswap/contracts";
import {
	type Address,
	custom,
	encodeDeployData,
	encodeFunctionData,
	http,
	parseAbi,
	zeroAddress,
} from "viem";
import { mnemonicToAccount, privateKeyToAddress } from "viem/accounts";
import { describe, expect, test } from "vitest";
import { deployCode } from "../src/deploy-code.ts";
import { deriveDevnetKeys } from "../src/devnet-keys.ts";
import { sendAs } from "../src/send-as.ts";
import {
	chain,
	chains,
	config,
	deployer,
	newAddress,
	onChainsOfItsOwn,
	options,
	roles,
} from "./deploy-test.ts";

onChainsOfItsOwn();

const { market } = deriveDevnetKeys().actors;

describe("a deployment is refused before anything is sent", () => {
	const mustNotBeCalled = custom({
		request: async ({ method }) => {
			throw new Error(`${method} was called`);
		},
	});

	test.each([
		["anvil's", mnemonicToAccount("test test test test test test test test test test test junk").address],
		["the devnet's", privateKeyToAddress(devnetKeys([7])[0] ?? "0x")],
	])("if it is for a real chain and has %s keys", async (_, known) => {
		const real = { ...options(), transport: mustNotBeCalled };
		const asDeployer = parseDeployConfig({ ...config, chainId: 8453 });
		const asOperator = parseDeployConfig({
			...config,
			chainId: 8453,
			roles: { ...roles, operators: [known] },
		});
		await expect(deployContracts({ ...real, config: asOperator })).rejects.toThrow(known);
		const account = { address: known, type: "json-rpc" } as const;
		await expect(deployContracts({ ...real, account, config: asDeployer })).rejects.toThrow(known);
	});

	test("if its config has an unknown key at any depth", () => {
		expect(() => parseDeployConfig({ ...config, vualt: 1 })).toThrow(/vualt/);
		expect(() => parseDeployConfig({ ...config, roles: { ...roles, operator: [] } })).toThrow(/"operator"/);
	});

	test("if its attesters are out of order, a cap is missing, or the settlement token is not an asset", () => {
		const attesters = config.attesterSet.attesters.toReversed();
		expect(() => parseDeployConfig({ ...config, attesterSet: { threshold: 2, attesters } })).toThrow(
			/ascending/,
		);
		expect(() => parseDeployConfig({ ...config, outflowCaps: {} })).toThrow(/nothing could leave/);
		expect(() => parseDeployConfig({ ...config, settlementToken: newAddress() })).toThrow(
			/not among the assets/,
		);
	});

	test.each<[string, (someone: Address) => Partial<DeployConfigInput>]>([
		["admin", (someone) => ({ roles: { ...roles, admin: someone } })],
		["operators", (someone) => ({ roles: { ...roles, operators: [someone] } })],
		["guardians", (someone) => ({ roles: { ...roles, guardians: [someone] } })],
		["treasuries", (someone) => ({ roles: { ...roles, treasuries: [someone] } })],
		["attesters", (someone) => ({ attesterSet: { threshold: 1, attesters: [someone] } })],
	])("if an address of its %s is zero or has no checksum", (_, change) => {
		const someone = newAddress();
		expect(parseDeployConfig({ ...config, ...change(someone) })).toBeDefined();
		const lower = someone.toLowerCase() as Address;
		expect(() => parseDeployConfig({ ...config, ...change(lower) })).toThrow(/with its checksum/);
		expect(() => parseDeployConfig({ ...config, ...change(zeroAddress) })).toThrow(/zero address/);
	});

	test.each<[string, (someone: Address) => Partial<typeof roles & { attesters: Address[] }>]>([
		["an admin and an operator", (someone) => ({ admin: someone, operators: [someone] })],
		["an admin and a guardian", (someone) => ({ admin: someone, guardians: [someone] })],
		["an admin and a treasury", (someone) => ({ admin: someone, treasuries: [someone] })],
		["an admin and an attester", (someone) => ({ admin: someone, attesters: [someone] })],
		["an admin and a treasurer", (someone) => ({ admin: someone, treasurers: [someone] })],
		["a treasury and a treasurer", (someone) => ({ treasuries: [someone], treasurers: [someone] })],
		["a treasurer and an operator", (someone) => ({ treasurers: [someone], operators: [someone] })],
		["a treasurer and a guardian", (someone) => ({ treasurers: [someone], guardians: [someone] })],
		["a configurer and an operator", (someone) => ({ configurers: [someone], operators: [someone] })],
		["a configurer and a treasurer", (someone) => ({ configurers: [someone], treasurers: [someone] })],
		["a resumer and an operator", (someone) => ({ resumers: [someone], operators: [someone] })],
		["a resumer and a treasurer", (someone) => ({ resumers: [someone], treasurers: [someone] })],
		["an attester and a treasurer", (someone) => ({ attesters: [someone], treasurers: [someone] })],
		["an attester and a configurer", (someone) => ({ attesters: [someone], configurers: [someone] })],
		["a treasury and an operator", (someone) => ({ treasuries: [someone], operators: [someone] })],
		["an attester and an operator", (someone) => ({ attesters: [someone], operators: [someone] })],
	])("if it has one key for %s", (powers, change) => {
		const someone = newAddress();
		const { attesters = config.attesterSet.attesters, ...changed } = change(someone);
		const overlapping = {
			...config,
			roles: { ...roles, ...changed },
			attesterSet: { threshold: 1, attesters },
		};
		expect(() => parseDeployConfig(overlapping)).toThrow(`${someone} is ${powers}`);
	});

	test("if it is for a real chain and a delay is shorter than that of its role", () => {
		const real = { ...config, chainId: 8453 };
		for (const delays of [{ treasurySeconds: 86_399 }, { configSeconds: 172_799 }, { adminSeconds: 0 }]) {
			expect(() => parseDeployConfig({ ...real, delays })).toThrow(/only a devnet may have less than/);
			expect(parseDeployConfig({ ...config, delays })).toBeDefined();
		}
	});

	test("if the node is on another chain", async () => {
		const other = { ...options(), transport: http(chains.destination.rpcUrl) };
		await expect(deployContracts(other)).rejects.toThrow("the node is on chain 31338");
	});

	test("if the chain has no deterministic deployer", async () => {
		await chain.testClient.setCode({
			address: "0x4e59b44847b379578588920cA78FbF26c0B4956C",
			bytecode: "0x",
		});
		await expect(deployContracts(options())).rejects.toThrow("the deterministic deployer");
	});

	const refusal = async (changes: Partial<DeployConfigInput>): Promise<string> => {
		const changed = parseDeployConfig({ ...config, ...changes });
		const error = await deployContracts({ ...options(), config: changed }).catch((error) => error);
		expect(error).toBeInstanceOf(DeployError);
		expect(await chain.publicClient.getTransactionCount({ address: deployer.address })).toBe(0);
		return error.message;
	};
	const withAsset = (symbol: string, changes: Partial<DeployConfigInput["assets"][number]>) => ({
		assets: config.assets.map((asset) => (asset.symbol === symbol ? { ...asset, ...changes } : asset)),
	});

	test("if the router is not Uniswap's SwapRouter02", async () => {
		const { quoterV2, factory } = chain.deployment.uniswap;
		const asRouter = (router: Address) => refusal({ uniswap: { factory, quoterV2, router } });
		const firstRouter = await deployCode(
			chain,
			market,
			encodeDeployData({
				...createRequire(import.meta.url)(
					"@uniswap/v3-periphery/artifacts/contracts/SwapRouter.sol/SwapRouter.json",
				),
				args: [factory, chain.deployment.wrappedNative],
			}),
		);
		for (const router of [factory, quoterV2, firstRouter]) {
			expect(await asRouter(router)).toContain(`${router} does not answer as Uniswap's SwapRouter02`);
		}
	});

	test("if the quoter is the router", async () => {
		const { router, factory } = chain.deployment.uniswap;
		expect(await refusal({ uniswap: { factory, router, quoterV2: router } })).toContain("cannot be quoted");
	});

	test("if a path goes through a pool that does not exist", async () => {
		expect(await refusal(withAsset("USDT", { paths: [[100], [3000]] }))).toContain("the path [3000] to USDT");
		expect(await refusal(withAsset("ORB", { paths: [[500, 10_000]] }))).toContain(
			"the path [500, 10000] to ORB",
		);
	});

	test("if the addresses of two tokens are swapped", async () => {
		const [usdc, usdt] = ["USDC", "USDT"].map(
			(name) => config.assets.find(({ symbol }) => symbol === name)?.address,
		);
		const assets = config.assets.map((asset) => {
			if (asset.symbol === "USDC") return { ...asset, address: usdt as Address };
			return asset.symbol === "USDT" ? { ...asset, address: usdc as Address } : asset;
		});
		expect(await refusal({ assets, settlementToken: usdt as Address })).toMatch(
			/is USD[CT], the config says/,
		);
	});

	test("if the decimals are not those of the token", async () => {
		expect(await refusal(withAsset("USDT", { decimals: 18 }))).toContain("6 decimals");
	});

	test("if a feed is not a price feed or has no price", async () => {
		const notAFeed = { address: chain.deployment.wrappedNative, heartbeatSeconds: 3600 };
		expect(await refusal(withAsset("ORB", { feed: notAFeed }))).toContain("as the feed of ORB");
		const { feed } = config.assets.find(({ symbol }) => symbol === "ORB") as { feed: { address: Address } };
		await sendAs(chain, market, {
			to: feed.address,
			data: encodeFunctionData({
				abi: parseAbi(["function setAnswer(int256 answer)"]),
				functionName: "setAnswer",
				args: [0n],
			}),
		});
		expect(await refusal({})).toContain("which is not a price");
	});
});
