import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import {
	baseEnvironment,
	isListening,
	makeSoftHsm,
	portSource,
	type ServiceProcess,
	type StackConfig,
	type StackSigning,
	serviceProcess,
} from "@geoswap/devnet";
import { formatDeployment } from "@geoswap/protocol";
import { bytesToHex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { evmSecrets, feePayerNames, solanaSecrets } from "../leak/devnet-secrets.ts";
import { type MoodyLink, startMoodyLink } from "../trouble/moody-link.ts";

/** All keys of a stack with one remote signer, which has them in a security module. */
export type RemoteSigning = {
	/** The field `keys` of the service's configuration. */
	keysFor: (config: StackConfig) => object;
	signing: StackSigning;
	/** The signer, once the stack has started. */
	signer: () => ServiceProcess;
	/** The network between the signer and its clients. */
	link: MoodyLink;
	stop: () => Promise<void>;
};

/** The program of the remote signer. */
export const signerMain = join(import.meta.dirname, "../../apps/signer/src/main.ts");

/** More than a test spends, so that only rules and proofs decide. */
const cap = { perHour: String(10n ** 30n), perDay: String(10n ** 30n) };
/** The pace of the stack's chains, as its configuration has it. */
const evmPace = { finalitySeconds: 5 };
const solanaPace = { finalitySeconds: 8 };
const relayerNames = ["relayer-0", "relayer-1"];
const attesterNames = ["attester-0", "attester-1", "attester-2"];

/**
 * Prepares a remote signer for a stack, with mutual TLS and a policy that pays nothing that no deposit proves. The
 * stack starts it. Each client has its own certificate and keys.
 */
export async function prepareRemoteSigning({
	folder,
	variables,
}: {
	folder: string;
	/** Variables of the worker and the attesters. */
	variables: Record<string, string>;
}): Promise<RemoteSigning> {
	const hsm = await makeSoftHsm(join(folder, "hsm"));
	for (const { name, bytes } of evmSecrets) await hsm.bring(name, { curve: "secp256k1", secret: bytes });
	for (const { name, bytes } of solanaSecrets) await hsm.bring(name, { curve: "ed25519", secret: bytes });
	const certificates = join(folder, "certificates");
	const clients = ["worker", ...attesterNames].flatMap((name) => ["--client", name]);
	await promisify(execFile)(
		process.execPath,
		[signerMain, "make-certificates", "--out", certificates, "--server", "127.0.0.1", ...clients],
		{ env: baseEnvironment() },
	);
	const nextPort = portSource();
	const port = await nextPort();
	const link = await startMoodyLink({ port: await nextPort(), to: port });
	const remoteFor = (client: string) => ({
		url: `https://127.0.0.1:${link.port}`,
		caFile: join(certificates, "ca.pem"),
		certificateFile: join(certificates, `${client}.pem`),
		keyFile: join(certificates, `${client}-key.pem`),
	});
	let signer: ServiceProcess | undefined;

	const startFirst: NonNullable<StackSigning["startFirst"]> = async ({
		deployment,
		endpoints,
		solana,
		logFile,
	}) => {
		const home = join(folder, "signer");
		mkdirSync(home);
		writeFileSync(join(home, "deployment.json"), formatDeployment(deployment));
		const outflow = (assets: readonly { address: string }[]) =>
			Object.fromEntries(assets.map(({ address }) => [address, cap]));
		const worker = { clients: ["worker"], signaturesPerHour: 1_000_000 };
		const gasAccounts = evmSecrets
			.filter(({ name }) => [...relayerNames, "treasurer"].includes(name))
			.map(({ bytes }) => privateKeyToAddress(bytesToHex(bytes)));
		const on = deployment.solana;
		const file = {
			deployment: "deployment.json",
			state: "state.sqlite",
			port,
			tls: {
				certificateFile: join(certificates, "server.pem"),
				keyFile: join(certificates, "server-key.pem"),
				clientCaFile: join(certificates, "ca.pem"),
			},
			chains: Object.fromEntries(
				deployment.chains.map(({ chainId, assets }) => [
					chainId,
					{
						rpcUrl: endpoints.find((one) => one.chainId === chainId)?.rpcUrl,
						outflow: outflow(assets),
						gasAccounts,
						...evmPace,
						maxFeePerGasWei: String(500n * 10n ** 9n),
						maxTransactionFeeWei: String(10n ** 19n),
					},
				]),
			),
			...(on &&
				solana && {
					solana: {
						rpcUrl: solana.rpcUrl,
						outflow: outflow(on.assets),
						...solanaPace,
					},
				}),
			keys: {
				...Object.fromEntries(
					deployment.chains.flatMap(({ chainId }) =>
						relayerNames.map((name) => [
							`${name}-${chainId}`,
							{ use: "relayer", reference: hsm.reference(name), ...worker, chainId, feesWei: cap },
						]),
					),
				),
				...Object.fromEntries(
					deployment.chains.map(({ chainId, assets }) => [
						`treasurer-${chainId}`,
						{
							use: "treasurer",
							reference: hsm.reference("treasurer"),
							...worker,
							chainId,
							feesWei: cap,
							moves: outflow(assets),
						},
					]),
				),
				...Object.fromEntries(
					attesterNames.map((name) => [
						name,
						{ use: "attester", reference: hsm.reference(name), ...worker, clients: [name] },
					]),
				),
				...Object.fromEntries(
					feePayerNames.map((name) => [
						name,
						{ use: "solana-fee-payer", reference: hsm.reference(name), ...worker, feesLamports: cap },
					]),
				),
				operator: { use: "solana-operator", reference: hsm.reference("operator"), ...worker },
			},
			backends: { pkcs11: { module: hsm.module, pinFile: hsm.pinFile } },
		};
		const path = join(home, "signer.json");
		writeFileSync(path, JSON.stringify(file, null, "\t"));
		signer = serviceProcess({
			name: "signer",
			command: process.execPath,
			args: [signerMain, "--config", path],
			env: { ...baseEnvironment(), ...hsm.environment },
			logFile: logFile("signer"),
			isReady: () => isListening(port),
		});
		await signer.start();
		return signer;
	};

	return {
		keysFor: ({ chains }) => ({
			relayers: Object.fromEntries(
				Object.keys(chains).map((chainId) => [
					chainId,
					relayerNames.map((name) => `remote:${name}-${chainId}`),
				]),
			),
			treasurers: Object.fromEntries(
				Object.keys(chains).map((chainId) => [chainId, `remote:treasurer-${chainId}`]),
			),
			solana: {
				feePayers: feePayerNames.map((name) => `remote:${name}`),
				operator: "remote:operator",
			},
			remote: remoteFor("worker"),
		}),
		signing: {
			attesterKeys: (i) => ({ attester: `remote:attester-${i}`, remote: remoteFor(`attester-${i}`) }),
			workerEnvironment: variables,
			attesterEnvironment: variables,
			startFirst,
		},
		signer: () => {
			if (!signer) throw new Error("the stack has not started the signer");
			return signer;
		},
		link,
		stop: () => link.stop(),
	};
}
