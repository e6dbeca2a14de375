// Verifies a bundle by key with the library of Sigstore, and prints what was signed: node verify.mjs BUNDLE PUBLIC.pem
import { createPublicKey } from "node:crypto";
import { readFileSync } from "node:fs";

import { bundleFromJSON } from "@sigstore/bundle";
import { toSignedEntity, Verifier } from "@sigstore/verify";

const [, , bundleFile, keyFile] = process.argv;
const bundle = bundleFromJSON(JSON.parse(readFileSync(bundleFile, "utf8")));
const publicKey = createPublicKey(readFileSync(keyFile, "utf8"));
const trust = {
  certificateAuthorities: [],
  timestampAuthorities: [],
  tlogs: [],
  ctlogs: [],
  publicKey: () => ({ publicKey, validFor: () => true }),
};
// A key of one's own needs no transparency log and no timestamp.
const verifier = new Verifier(trust, { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 });
verifier.verify(toSignedEntity(bundle));
console.log(bundle.content.dsseEnvelope.payload.toString());
