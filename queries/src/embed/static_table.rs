//! Static embeddings: one vector per token, a text is the mean of its tokens.
//!
//! The files are those of model2vec (<https://github.com/MinishLab/model2vec>): `model.safetensors`
//! with a tensor `embeddings` (rows × dimension; `F32`, `F16`, `F64` or `I8` with one scale for all,
//! which cancels out), optionally `weights` (one factor per token) and `mapping` (token id to row);
//! `tokenizer.json`; `config.json` with `normalize`. Truncation and padding that a tokenizer brings
//! along are switched off: a text is read to its end.

use std::borrow::Cow;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use tokenizers::Tokenizer;
use tokenizers::models::ModelWrapper;

use super::{EmbedError, Embedder};

/// Most bytes of a text that are embedded. The mean over more than this says nothing any more, and
/// a tokenizer needs many times the memory of its text.
const LONGEST: usize = 1 << 20;

/// Version of the table that is built in: its name and the first half of the BLAKE3 over its files.
pub const BUILTIN_VERSION: &str = "static-minilm-256-i8@e7b1a023ca430c3f6885f1229a07fc65";

static BUILTIN_MODEL: &[u8] = include_bytes!("../../models/static-minilm-256-i8/model.safetensors");
static BUILTIN_TOKENIZER: &[u8] =
    include_bytes!("../../models/static-minilm-256-i8/tokenizer.json");
static BUILTIN_CONFIG: &[u8] = include_bytes!("../../models/static-minilm-256-i8/config.json");

/// The table that comes with the program. Parses its tokenizer each time: keep it.
///
/// # Errors
/// None that its tests do not exclude.
pub fn builtin() -> Result<StaticTable, EmbedError> {
    let mut table = StaticTable::read(BUILTIN_MODEL, BUILTIN_TOKENIZER, BUILTIN_CONFIG)?;
    table.version = BUILTIN_VERSION.to_owned();
    Ok(table)
}

/// One vector per row.
#[derive(Debug)]
enum Rows {
    /// As bytes of the file, where that was lent for ever.
    I8(Cow<'static, [u8]>),
    F32(Vec<f32>),
}

/// A table of token vectors with its tokenizer.
#[derive(Debug)]
pub struct StaticTable {
    version: String,
    tokenizer: Tokenizer,
    /// The token for what the vocabulary does not have; it has no meaning to add.
    unknown: Option<u32>,
    rows: Rows,
    dimension: usize,
    weights: Option<Vec<f32>>,
    mapping: Option<Vec<usize>>,
    normalize: bool,
}

impl StaticTable {
    /// A model from the bytes of its three files, under the name `name`.
    ///
    /// # Errors
    /// [`EmbedError::Model`] with what is wrong with which file.
    pub fn from_files(
        name: &str,
        model: Vec<u8>,
        tokenizer: &[u8],
        config: &[u8],
    ) -> Result<Self, EmbedError> {
        let version = version(name, &model, tokenizer, config);
        let mut table = Self::read(model, tokenizer, config)?;
        table.version = version;
        Ok(table)
    }

    fn read(
        model: impl Into<Cow<'static, [u8]>>,
        tokenizer: &[u8],
        config: &[u8],
    ) -> Result<Self, EmbedError> {
        let model = model.into();
        let tokenizer = read_tokenizer(tokenizer)?;
        let unknown = unknown_token(&tokenizer);
        let normalize = read_config(config)?;
        let damaged = |reason: String| EmbedError::Model(format!("model.safetensors: {reason}"));
        let tensors =
            SafeTensors::deserialize(&model).map_err(|error| damaged(error.to_string()))?;
        let embeddings = ["embeddings", "0", "embedding.weight"]
            .iter()
            .find_map(|name| tensors.tensor(name).ok())
            .ok_or_else(|| damaged("it has no tensor `embeddings`".to_owned()))?;
        let [count, dimension] = *embeddings.shape() else {
            return Err(damaged("`embeddings` is no table".to_owned()));
        };
        if count == 0 || dimension == 0 {
            return Err(damaged("`embeddings` is empty".to_owned()));
        }
        let weights = match tensors.tensor("weights") {
            Ok(tensor) => Some(floats(&tensor).map_err(damaged)?),
            Err(_) => None,
        };
        let mapping = match tensors.tensor("mapping") {
            Ok(tensor) => Some(indices(&tensor).map_err(damaged)?),
            Err(_) => None,
        };
        let rows = match embeddings.dtype() {
            Dtype::I8 => {
                let start = embeddings.data().as_ptr() as usize - model.as_ptr() as usize;
                let range = start..start + embeddings.data().len();
                match &model {
                    Cow::Borrowed(bytes) => {
                        Rows::I8(Cow::Borrowed(bytes.get(range).unwrap_or_default()))
                    }
                    Cow::Owned(_) => Rows::I8(Cow::Owned(embeddings.data().to_vec())),
                }
            }
            _ => Rows::F32(floats(&embeddings).map_err(damaged)?),
        };
        if mapping.is_none() && count < tokenizer.get_vocab_size(false) {
            return Err(damaged(format!(
                "it has {count} vectors for the {} tokens of tokenizer.json",
                tokenizer.get_vocab_size(false)
            )));
        }
        Ok(StaticTable {
            version: String::new(),
            tokenizer,
            unknown,
            rows,
            dimension,
            weights,
            mapping,
            normalize,
        })
    }

    /// The vector of one text: zero where it has no token that the table knows.
    fn embed(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let text = text
            .get(..text.floor_char_boundary(LONGEST))
            .unwrap_or(text);
        let encoding = self
            .tokenizer
            .encode_fast(text, false)
            .map_err(|error| EmbedError::Run(error.to_string()))?;
        let mut sum = vec![0.0f32; self.dimension];
        let mut count = 0u32;
        for id in encoding.get_ids() {
            if Some(*id) != self.unknown && self.add(*id as usize, &mut sum) {
                count += 1;
            }
        }
        if count > 0 {
            // At most a million tokens: the count is exact.
            #[allow(clippy::cast_precision_loss)]
            let scale = 1.0 / count as f32;
            sum.iter_mut().for_each(|value| *value *= scale);
        }
        if self.normalize {
            let norm = sum
                .iter()
                .map(|value| f64::from(*value).powi(2))
                .sum::<f64>();
            if norm > 0.0 {
                // The norm of a few hundred components of a table of floats is a float.
                #[allow(clippy::cast_possible_truncation)]
                let scale = (1.0 / norm.sqrt()) as f32;
                sum.iter_mut().for_each(|value| *value *= scale);
            }
        }
        Ok(sum)
    }

    /// Adds a token's vector; says whether the table has one.
    fn add(&self, token: usize, sum: &mut [f32]) -> bool {
        let row = match &self.mapping {
            Some(mapping) => match mapping.get(token) {
                Some(row) => *row,
                None => return false,
            },
            None => token,
        };
        let weight = match &self.weights {
            Some(weights) => weights.get(token).copied().unwrap_or(1.0),
            None => 1.0,
        };
        let Some(start) = row.checked_mul(self.dimension) else {
            return false;
        };
        let range = start..start.saturating_add(self.dimension);
        match &self.rows {
            Rows::I8(bytes) => {
                let Some(values) = bytes.get(range) else {
                    return false;
                };
                for (sum, value) in sum.iter_mut().zip(values) {
                    *sum += weight * f32::from(value.cast_signed());
                }
            }
            Rows::F32(floats) => {
                let Some(values) = floats.get(range) else {
                    return false;
                };
                for (sum, value) in sum.iter_mut().zip(values) {
                    *sum += weight * value;
                }
            }
        }
        true
    }
}

impl Embedder for StaticTable {
    fn model_version(&self) -> &str {
        &self.version
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        texts.iter().map(|text| self.embed(text)).collect()
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        self.embed(text)
    }
}

/// A name with the first half of the BLAKE3 of the files' BLAKE3s.
fn version(name: &str, model: &[u8], tokenizer: &[u8], config: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    for bytes in [model, tokenizer, config] {
        hasher.update(blake3::hash(bytes).as_bytes());
    }
    let hex = hasher.finalize().to_hex();
    format!("{name}@{}", hex.get(..32).unwrap_or_default())
}

fn read_tokenizer(bytes: &[u8]) -> Result<Tokenizer, EmbedError> {
    let damaged = |reason: String| EmbedError::Model(format!("tokenizer.json: {reason}"));
    let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(|error| damaged(error.to_string()))?;
    tokenizer
        .with_truncation(None)
        .map_err(|error| damaged(error.to_string()))?;
    tokenizer.with_padding(None);
    Ok(tokenizer)
}

fn unknown_token(tokenizer: &Tokenizer) -> Option<u32> {
    match tokenizer.get_model() {
        ModelWrapper::WordPiece(model) => tokenizer.token_to_id(&model.unk_token),
        ModelWrapper::WordLevel(model) => tokenizer.token_to_id(&model.unk_token),
        ModelWrapper::BPE(model) => tokenizer.token_to_id(model.unk_token.as_deref()?),
        // It keeps its own to itself; what it writes has it.
        ModelWrapper::Unigram(model) => serde_json::to_value(model)
            .ok()?
            .get("unk_id")?
            .as_u64()
            .and_then(|id| u32::try_from(id).ok()),
    }
}

/// Whether vectors get the length one.
fn read_config(bytes: &[u8]) -> Result<bool, EmbedError> {
    let config: serde_json::Value = serde_json::from_slice(bytes)
        .map_err(|error| EmbedError::Model(format!("config.json: {error}")))?;
    Ok(config
        .get("normalize")
        .and_then(serde_json::Value::as_bool)
        .unwrap_or(true))
}

/// The numbers of a tensor, which must be finite.
fn floats(tensor: &TensorView<'_>) -> Result<Vec<f32>, String> {
    let data = tensor.data();
    // A double that is no float's becomes the nearest one, which is what a table is made of.
    #[allow(clippy::cast_possible_truncation)]
    let found: Vec<f32> = match tensor.dtype() {
        Dtype::F32 => data
            .as_chunks()
            .0
            .iter()
            .map(|b| f32::from_le_bytes(*b))
            .collect(),
        Dtype::F64 => data
            .as_chunks()
            .0
            .iter()
            .map(|b| f64::from_le_bytes(*b) as f32)
            .collect(),
        Dtype::F16 => data
            .as_chunks()
            .0
            .iter()
            .map(|b| half(u16::from_le_bytes(*b)))
            .collect(),
        Dtype::I8 => data.iter().map(|b| f32::from(b.cast_signed())).collect(),
        other => return Err(format!("numbers of the kind {other:?} cannot be read")),
    };
    if found.iter().all(|value| value.is_finite()) {
        Ok(found)
    } else {
        Err("it has numbers that are not finite".to_owned())
    }
}

fn indices(tensor: &TensorView<'_>) -> Result<Vec<usize>, String> {
    let data = tensor.data();
    let found: Option<Vec<usize>> = match tensor.dtype() {
        Dtype::I64 => data
            .as_chunks()
            .0
            .iter()
            .map(|b| usize::try_from(i64::from_le_bytes(*b)).ok())
            .collect(),
        Dtype::I32 => data
            .as_chunks()
            .0
            .iter()
            .map(|b| usize::try_from(i32::from_le_bytes(*b)).ok())
            .collect(),
        other => return Err(format!("a `mapping` of the kind {other:?} cannot be read")),
    };
    found.ok_or_else(|| "`mapping` has rows below zero".to_owned())
}

/// A number of IEEE 754 binary16.
fn half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f32::from(bits & 0x3ff) / 1024.0;
    match exponent {
        0 => sign * fraction * 2.0f32.powi(-14),
        31 if fraction == 0.0 => sign * f32::INFINITY,
        31 => f32::NAN,
        _ => sign * (1.0 + fraction) * 2.0f32.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

    use super::super::cosine;
    use super::*;
    use proptest::prelude::*;
    use std::sync::LazyLock;

    static TABLE: LazyLock<StaticTable> = LazyLock::new(|| builtin().unwrap());

    fn tensors(list: &[(&str, Dtype, Vec<usize>, Vec<u8>)]) -> Vec<u8> {
        let views: Vec<(&str, TensorView<'_>)> = list
            .iter()
            .map(|(name, dtype, shape, data)| {
                (*name, TensorView::new(*dtype, shape.clone(), data).unwrap())
            })
            .collect();
        safetensors::serialize(views, None).unwrap()
    }

    /// A tokenizer of three words and the unknown one, with truncation and padding that must not act.
    fn tokenizer() -> Vec<u8> {
        serde_json::json!({
            "version": "1.0",
            "truncation": {"max_length": 2, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
            "padding": {"strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 1, "pad_type_id": 0, "pad_token": "a"},
            "added_tokens": [], "normalizer": null,
            "pre_tokenizer": {"type": "Whitespace"},
            "post_processor": null, "decoder": null,
            "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 1, "b": 2, "c": 3}, "unk_token": "[UNK]"}
        })
        .to_string()
        .into_bytes()
    }

    fn f32s(values: &[f32]) -> Vec<u8> {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    }

    fn small(list: &[(&str, Dtype, Vec<usize>, Vec<u8>)]) -> Result<StaticTable, EmbedError> {
        StaticTable::from_files(
            "small",
            tensors(list),
            &tokenizer(),
            br#"{"normalize": false}"#,
        )
    }

    #[test]
    fn the_version_of_the_builtin_table_is_that_of_its_bytes() {
        assert_eq!(
            version(
                "static-minilm-256-i8",
                BUILTIN_MODEL,
                BUILTIN_TOKENIZER,
                BUILTIN_CONFIG
            ),
            BUILTIN_VERSION
        );
        assert_eq!(TABLE.model_version(), BUILTIN_VERSION);
        assert_eq!(TABLE.dimension(), 256);
    }

    #[test]
    fn related_texts_are_nearer_than_unrelated_ones() {
        let question = TABLE
            .embed_query("How do I restart the web server?")
            .unwrap();
        let texts = [
            "To restart the server without dropping connections, send it the graceful signal.",
            "The recipe needs two eggs and a cup of flour.",
        ];
        let found = TABLE.embed_documents(&texts).unwrap();
        assert!(cosine(&question, &found[0]) > cosine(&question, &found[1]) + 0.2);
    }

    #[test]
    fn a_text_is_read_to_its_end() {
        let filler = "the quick brown fox jumps over the lazy dog ".repeat(40);
        let one = TABLE
            .embed_query(&format!("{filler} about databases"))
            .unwrap();
        let two = TABLE
            .embed_query(&format!("{filler} about volcanoes"))
            .unwrap();
        assert_ne!(one, two);
    }

    #[test]
    fn the_mean_of_the_known_tokens() {
        let table = small(&[(
            "embeddings",
            Dtype::F32,
            vec![4, 2],
            f32s(&[9.0, 9.0, 1.0, 0.0, 0.0, 2.0, 4.0, 4.0]),
        )])
        .unwrap();
        for (text, expected) in [
            ("a", [1.0, 0.0]),
            ("a b", [0.5, 1.0]),
            ("a b c unheard of", [1.666_666_7, 2.0]),
            ("", [0.0, 0.0]),
            ("unheard", [0.0, 0.0]),
        ] {
            assert_eq!(table.embed_query(text).unwrap(), expected, "{text:?}");
        }
    }

    #[test]
    fn all_kinds_of_numbers_give_the_same_table() {
        let values = [0.0f32, 0.0, 1.0, -2.0, 3.0, 4.0, -5.0, 64.0];
        let halves: Vec<u8> = [0u16, 0, 0x3c00, 0xc000, 0x4200, 0x4400, 0xc500, 0x5400]
            .iter()
            .flat_map(|bits| bits.to_le_bytes())
            .collect();
        let kinds = [
            (Dtype::F32, f32s(&values)),
            (
                Dtype::F64,
                values
                    .iter()
                    .flat_map(|value| f64::from(*value).to_le_bytes())
                    .collect(),
            ),
            (Dtype::F16, halves),
            #[allow(clippy::cast_possible_truncation)]
            (
                Dtype::I8,
                values
                    .iter()
                    .map(|value| (*value as i8).cast_unsigned())
                    .collect(),
            ),
        ];
        for (dtype, bytes) in kinds {
            let table = small(&[("embeddings", dtype, vec![4, 2], bytes)]).unwrap();
            assert_eq!(
                table.embed_query("a b c").unwrap(),
                [-1.0 / 3.0, 22.0],
                "{dtype:?}"
            );
        }
    }

    #[test]
    fn weights_and_a_mapping_of_a_smaller_vocabulary() {
        let table = small(&[
            ("embeddings", Dtype::F32, vec![2, 1], f32s(&[1.0, 10.0])),
            ("weights", Dtype::F32, vec![4], f32s(&[0.0, 1.0, 2.0, 3.0])),
            (
                "mapping",
                Dtype::I64,
                vec![4],
                [0i64, 0, 1, 1]
                    .iter()
                    .flat_map(|row| row.to_le_bytes())
                    .collect(),
            ),
        ])
        .unwrap();
        assert_eq!(table.embed_query("a b c").unwrap(), [51.0 / 3.0]);
    }

    #[test]
    fn models_that_are_none_are_refused_with_the_file_s_name() {
        let good = || ("embeddings", Dtype::F32, vec![4, 1], f32s(&[0.0; 4]));
        type Case = (Vec<u8>, Vec<u8>, &'static [u8], &'static str);
        let table: Vec<Case> = vec![
            (Vec::new(), tokenizer(), b"{}", "model.safetensors"),
            (
                b"not a model at all".to_vec(),
                tokenizer(),
                b"{}",
                "model.safetensors",
            ),
            (tensors(&[good()]), b"{}".to_vec(), b"{}", "tokenizer.json"),
            (tensors(&[good()]), tokenizer(), b"[", "config.json"),
            (
                tensors(&[("other", Dtype::F32, vec![4, 1], f32s(&[0.0; 4]))]),
                tokenizer(),
                b"{}",
                "no tensor `embeddings`",
            ),
            (
                tensors(&[("embeddings", Dtype::F32, vec![4], f32s(&[0.0; 4]))]),
                tokenizer(),
                b"{}",
                "no table",
            ),
            (
                tensors(&[("embeddings", Dtype::F32, vec![0, 4], Vec::new())]),
                tokenizer(),
                b"{}",
                "empty",
            ),
            (
                tensors(&[("embeddings", Dtype::F32, vec![3, 1], f32s(&[0.0; 3]))]),
                tokenizer(),
                b"{}",
                "3 vectors for the 4 tokens",
            ),
            (
                tensors(&[("embeddings", Dtype::F32, vec![4, 1], f32s(&[f32::NAN; 4]))]),
                tokenizer(),
                b"{}",
                "not finite",
            ),
            (
                tensors(&[("embeddings", Dtype::I32, vec![4, 1], vec![0; 16])]),
                tokenizer(),
                b"{}",
                "cannot be read",
            ),
            (
                tensors(&[
                    good(),
                    (
                        "mapping",
                        Dtype::I64,
                        vec![1],
                        (-1i64).to_le_bytes().to_vec(),
                    ),
                ]),
                tokenizer(),
                b"{}",
                "below zero",
            ),
        ];
        for (model, tokenizer, config, words) in table {
            let error = StaticTable::from_files("m", model, &tokenizer, config).unwrap_err();
            assert!(error.to_string().contains(words), "{error} lacks {words:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_text_has_a_vector_of_the_same_length(text in "\\PC{0,80}|.{0,80}") {
            let vector = TABLE.embed_query(&text).unwrap();
            prop_assert_eq!(vector.len(), 256);
            let norm: f32 = vector.iter().map(|value| value * value).sum();
            prop_assert!(norm == 0.0 || (norm - 1.0).abs() < 1e-4);
            let documents = TABLE.embed_documents(&[&text]).unwrap();
            prop_assert_eq!(&documents[0], &vector);
        }

        #[test]
        fn damaged_models_never_panic(at in 0usize..200, byte: u8) {
            let mut model = tensors(&[("embeddings", Dtype::F32, vec![4, 1], f32s(&[0.5; 4]))]);
            let at = at % model.len();
            model[at] = byte;
            let table = StaticTable::from_files("m", model, &tokenizer(), b"{}");
            if let Ok(table) = table {
                let _ = table.embed_query("a b c");
            }
        }
    }
}
