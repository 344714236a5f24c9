import { randomBytes } from "node:crypto";
import { type Kms, startKms } from "@geoswap/devnet";
import { createKeyPairSignerFromPrivateKeyBytes } from "@solana/kit";
import { hexToBytes } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { keySettingsSchema } from "../config/key-settings.ts";
import { openSigners } from "../open-signers.ts";
import { SignerError } from "../signer-error.ts";

const relayer = generatePrivateKey();
const vault = new Uint8Array(randomBytes(32));
let kms: Kms;
beforeAll(async () => {
	kms = await startKms({
		keys: [
			{ name: "relayer", curve: "secp256k1", secret: hexToBytes(relayer) },
			{ name: "vault", curve: "ed25519", secret: vault },
		],
	});
	for (const [name, value] of Object.entries({ ...kms.awsEnvironment, ...kms.gcpEnvironment })) {
		vi.stubEnv(name, value);
	}
});
beforeEach(() => {
	kms.mood = "fine";
});
afterAll(async () => {
	vi.unstubAllEnvs();
	await kms?.stop();
});

const heartbeat = {
	kind: "heartbeat",
	message: { chainId: 31337, finalizedNumber: 12, signedAtUnixSeconds: 1_700_000_000 },
} as const;

function open(timeoutMs = 30_000) {
	const endpoint = kms.url;
	const settings = keySettingsSchema.parse({ awskms: { endpoint }, gcpkms: { endpoint }, timeoutMs });
	return openSigners({ settings, secretNames: [], nowMs: Date.now });
}

const services = [
	["AWS", (name: string) => kms.awsReference(name)],
	["Google", (name: string) => kms.gcpReference(name)],
] as const;

test.each(services)("keys of %s sign for EVM chains and for Solana", async (_, referenceOf) => {
	const signers = open();
	const evm = await signers.openEvm(referenceOf("relayer"));
	expect(evm.address).toBe(privateKeyToAddress(relayer));
	// A signer returns only signatures that it has verified, with the low s.
	for (let i = 0; i < 5; i++) await evm.sign(heartbeat);
	const solana = await signers.openSolana(referenceOf("vault"));
	expect(solana.address).toBe((await createKeyPairSignerFromPrivateKeyBytes(vault)).address);
	await solana.sign(new Uint8Array(randomBytes(1_100)));
	await signers.close();
});

test.each(services)(
	"a key of %s that does not exist or is of another kind is named",
	async (_, referenceOf) => {
		const signers = open();
		await expect(signers.openEvm(referenceOf("nobody"))).rejects.toThrow("nobody");
		await expect(signers.openEvm(referenceOf("vault"))).rejects.toThrow(/SECP256K1|P256K1/);
		await expect(signers.openSolana(referenceOf("relayer"))).rejects.toThrow(/ED25519|EDWARDS25519/);
	},
);

test.each(services)(
	"%s: nothing is returned while the service fails, hangs or signs with another key",
	async (_, referenceOf) => {
		const evm = await open(500).openEvm(referenceOf("relayer"));
		for (const mood of ["failing", "hung", "lying"] as const) {
			kms.mood = mood;
			await expect(evm.sign(heartbeat)).rejects.toThrow(SignerError);
			kms.mood = "fine";
			await expect
				.poll(() =>
					evm.sign(heartbeat).then(
						() => true,
						() => false,
					),
				)
				.toBe(true);
		}
	},
);
