//! TLS: a certificate and its key, and what comes before the first request.

use super::refusal;
use super::socket::{Socket, Wire};
use super::write_timeout::WriteTimeout;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{CertificateError, ServerConfig};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsAcceptor;

/// The first byte of every handshake.
const HANDSHAKE: u8 = 0x16;

/// A certificate and its key, for callers by https. Clones are the same.
#[derive(Clone)]
pub struct Tls(TlsAcceptor);

impl Tls {
    /// Reads two PEM files: the certificate, followed by those that signed it, and its private key.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, String> {
        let chain = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .and_then(|chain| if chain.is_empty() { Err(pem::Error::NoItemsFound) } else { Ok(chain) })
            .map_err(|error| unreadable(certificate, "certificate", "CERTIFICATE", &error))?;
        let private = PrivateKeyDer::from_pem_file(key)
            .map_err(|error| unreadable(key, "private key without a password", "PRIVATE KEY", &error))?;
        let (certificate, key) = (certificate.display(), key.display());
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_no_client_auth()
            .with_single_cert(chain, private)
            .map_err(|error| match error {
                rustls::Error::InconsistentKeys(_) => {
                    format!("{key}: this is not the key of the certificate in {certificate}")
                }
                rustls::Error::InvalidCertificate(CertificateError::BadEncoding) => {
                    format!("{certificate}: what it holds is no certificate")
                }
                error => format!("{key}: this key cannot be used: {error}"),
            })?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }

    /// Does the handshake. Who speaks plain HTTP is told so.
    pub(super) async fn accept(&self, socket: Socket, write_time: Duration) -> io::Result<Box<dyn Wire>> {
        let is_handshake = socket.begins_with(HANDSHAKE).await?;
        let mut stream = WriteTimeout::new(socket.into_wire(), write_time);
        if is_handshake {
            return Ok(Box::new(self.0.accept(stream).await?));
        }
        let told =
            refusal("400 Bad Request", "bad-request", "this port speaks TLS: call it by https, not http");
        stream.write_all(&told).await?;
        stream.shutdown().await?;
        Err(io::Error::other("the caller does not speak TLS"))
    }
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls")
    }
}

/// Why a PEM file cannot be used, as a sentence.
fn unreadable(file: &Path, wanted: &str, section: &str, error: &pem::Error) -> String {
    let file = file.display();
    match error {
        pem::Error::Io(error) => format!("{file}: {error}"),
        pem::Error::NoItemsFound => {
            format!("{file}: it holds no {wanted}; a PEM file has one after a line -----BEGIN {section}-----")
        }
        _ => format!("{file}: it is no whole PEM file: {error}"),
    }
}
