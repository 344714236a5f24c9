// Set-up that the tests of deployments share. Each test starts on a chain without the service's contracts.
import {
	type DeployConfigInput,
	parseDeployConfig,
	planContracts,
	type StepReport,
} from "@geoswap/contracts";
import { type Address, type Hex, http, parseEther } from "viem";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { startTestChains, type TestChain, type TestChains } from "../src/index.ts";
import { deployConfigFor } from "./deploy-config-for.ts";

export const deployerKey = generatePrivateKey();
export const deployer = privateKeyToAccount(deployerKey);
export const newAddress = (): Address => privateKeyToAddress(generatePrivateKey());
export const roles = {
	admin: newAddress(),
	operators: [newAddress(), newAddress()],
	guardians: [newAddress()],
	treasuries: [newAddress()],
	treasurers: [newAddress()],
	configurers: [newAddress()],
	resumers: [newAddress()],
};

export let chains: TestChains;
export let chain: TestChain;
export let config: DeployConfigInput;
let snapshot: Hex;

/** Must be called once by each test file. */
export function onChainsOfItsOwn(): void {
	beforeAll(async () => {
		chains = await startTestChains();
		chain = chains.origin;
		config = deployConfigFor(chain.deployment, roles);
		const { delegate, typedDelegate, escrow } = chain.deployment.contracts;
		// These have the same address for every deployer. Without them the chain has none of the service's contracts.
		for (const address of [delegate, typedDelegate, escrow]) {
			await chain.testClient.setCode({ address, bytecode: "0x" });
			await chain.testClient.setNonce({ address, nonce: 0 });
		}
		await chain.testClient.setBalance({ address: deployer.address, value: parseEther("100") });
	});
	afterAll(() => chains.stop());
	beforeEach(async () => {
		snapshot = await chain.testClient.snapshot();
	});
	afterEach(() => chain.testClient.revert({ id: snapshot }));
}

export function options(onStep?: (report: StepReport) => void) {
	return {
		transport: http(chain.rpcUrl),
		account: deployer,
		config: parseDeployConfig(config),
		pollingIntervalMs: 5,
		...(onStep ? { onStep } : {}),
	};
}

export async function plan(): Promise<StepReport[]> {
	const reports: StepReport[] = [];
	await planContracts(options((report) => void reports.push(report)));
	return reports;
}
